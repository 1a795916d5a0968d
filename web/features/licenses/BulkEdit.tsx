import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BulkChange, PlannedChange } from '../../../contract/license-bulk.ts';
import { instantOf } from '../../../contract/license-term.ts';
import { useEntered } from '../../dialog-form.ts';
import { oneOf } from '../../search-params.ts';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { isDay } from '../../ui/day.ts';
import { DayField } from '../../ui/DayField.tsx';
import { CancelButton, Dialog } from '../../ui/Dialog.tsx';
import { dayProblem } from '../../ui/typed-day.ts';
import { ModulePicker } from '../modules/index.ts';
import { bulkPreviewQuery, type BulkTarget } from './bulk-queries.ts';
import { BulkPreview } from './BulkPreview.tsx';
import { BulkProgress } from './BulkProgress.tsx';
import { fieldLabels } from './license-form.ts';
import { countOf } from './license-labels.ts';
import { useBulkEdit } from './use-bulk-edit.ts';

export type BulkEditKind = 'extend' | 'modules';

const kinds = {
  extend: { title: 'Extend Licenses', verb: 'Extend', past: 'extended' },
  modules: { title: 'Change Modules', verb: 'Change', past: 'changed' },
} as const;

const width = 560;

/** Extends many licenses, or changes their modules: preview, progress, result, and Undo. */
export function BulkEdit(props: {
  kind: BulkEditKind;
  target: BulkTarget;
  onDone: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={kinds[props.kind].title} size={width} onClose={props.onClose}>
      <BulkEditSteps {...props} />
    </Dialog>
  );
}

function BulkEditSteps({ kind, target, onDone, onClose }: Parameters<typeof BulkEdit>[0]) {
  const { verb, past } = kinds[kind];
  const { run, undo, finished, stop } = useBulkEdit();
  const running = run.isPending ? run : undo.isPending ? undo : undefined;
  if (running)
    return (
      <Stack gap="md">
        <BulkProgress finished={finished} total={running.variables.length} onStop={stop} />
      </Stack>
    );
  if (undo.data)
    return <Result of={undo} sentence={(n) => `${countOf(n)} put back.`} what="put back" onClose={onClose} />;
  if (run.data) {
    const { done } = run.data;
    return (
      <Result of={run} sentence={(n) => `${countOf(n)} ${past}.`} what={past} onClose={onClose}>
        {done.length > 0 && (
          <Button variant="default" onClick={() => undo.mutate(done)}>
            Undo
          </Button>
        )}
      </Result>
    );
  }
  const Choice = kind === 'extend' ? ExtendChoice : ModulesChoice;
  return (
    <Choice
      target={target}
      verb={verb}
      onCancel={onClose}
      onConfirm={(planned) => run.mutate(planned, { onSuccess: onDone })}
    />
  );
}

type ChoiceProps = {
  target: BulkTarget;
  verb: string;
  onCancel: () => void;
  onConfirm: (planned: PlannedChange[]) => void;
};

const periods = ['days', 'year', 'date'] as const;
const periodLabels = { days: '+30 days', year: '+1 year', date: 'To a date' };

function ExtendChoice(props: ChoiceProps) {
  const [entered, setEntered] = useEntered<{ by: (typeof periods)[number]; until: string }>(
    'extend licenses',
    {
      by: 'year',
      until: '',
    },
  );
  const { by, until } = entered;
  return (
    <Steps {...props} change={extensionOf(by, until)}>
      <SegmentedControl
        fullWidth
        aria-label="Extend"
        data={periods.map((value) => ({ value, label: periodLabels[value] }))}
        value={by}
        onChange={(value) => setEntered({ ...entered, by: oneOf(periods, value) ?? by })}
      />
      {by === 'date' && (
        <DayField
          label={fieldLabels.validUntil}
          description="Ends when this day begins in UTC"
          required
          value={until}
          error={dayProblem(until)}
          onChange={(day) => setEntered({ ...entered, until: day })}
        />
      )}
    </Steps>
  );
}

function extensionOf(by: (typeof periods)[number], until: string): BulkChange | undefined {
  if (by === 'days') return { kind: 'extendByDays', days: 30 };
  if (by === 'year') return { kind: 'extendByMonths', months: 12 };
  return isDay(until) ? { kind: 'extendTo', validUntil: instantOf(until) } : undefined;
}

const ways = ['add', 'remove'] as const;

function ModulesChoice(props: ChoiceProps) {
  const [entered, setEntered] = useEntered<{ way: (typeof ways)[number]; moduleIds: string[] }>(
    'modules of licenses',
    { way: 'add', moduleIds: [] },
  );
  const { way, moduleIds } = entered;
  const change: BulkChange = { kind: 'modules', add: [], remove: [], [way]: moduleIds };
  return (
    <Steps {...props} change={moduleIds.length > 0 ? change : undefined}>
      <SegmentedControl
        fullWidth
        aria-label="Modules"
        data={[
          { value: 'add', label: 'Add modules' },
          { value: 'remove', label: 'Remove modules' },
        ]}
        value={way}
        onChange={(value) => setEntered({ ...entered, way: oneOf(ways, value) ?? way })}
      />
      <ModulePicker value={moduleIds} onChange={(chosen) => setEntered({ ...entered, moduleIds: chosen })} />
    </Steps>
  );
}

/** The choice, what it would change, and the button that does exactly that. */
function Steps(props: ChoiceProps & { change: BulkChange | undefined; children: ReactNode }) {
  const preview = useQuery(bulkPreviewQuery(props.target, props.change));
  const planned =
    props.change && preview.data && !preview.isPlaceholderData ? preview.data.changed : undefined;
  const isReady = planned !== undefined && planned.length > 0;
  return (
    <Stack gap="md">
      {props.children}
      {props.change && <BulkPreview preview={preview} />}
      <Group justify="flex-end" gap="xs">
        <CancelButton onCancel={props.onCancel} />
        <Button
          data-autofocus
          disabled={!isReady}
          onClick={() => planned && isReady && props.onConfirm(planned)}
        >
          {isReady ? `${props.verb} ${countOf(planned.length)}` : props.verb}
        </Button>
      </Group>
    </Stack>
  );
}

function Result(props: {
  of: ReturnType<typeof useBulkEdit>['run'];
  sentence: (done: number) => string;
  what: string;
  onClose: () => void;
  children?: ReactNode;
}) {
  const { data, variables = [] } = props.of;
  if (!data) return null;
  const { done, failed } = data;
  const left = variables.length - done.length - failed.length;
  return (
    <Stack gap="md">
      <Text role={failed.length > 0 ? 'alert' : 'status'}>
        {props.sentence(done.length)}
        {left > 0 && ` Stopped: ${countOf(left)} not ${props.what}.`}
        {failed.length > 0 && ` ${countOf(failed.length)} could not be ${props.what}:`}
      </Text>
      {failed.length > 0 && (
        <BoxedList label="Licenses">
          {failed.map(({ planned, reason }) => (
            <li key={planned.licenseId}>
              <span className="mono">{planned.licenseKey}</span>{' '}
              <Text span c="dimmed">
                {planned.customerName}
              </Text>
              <Text c="var(--mantine-color-error)">{reason}</Text>
            </li>
          ))}
        </BoxedList>
      )}
      <Group justify="flex-end" gap="xs">
        {props.children}
        <Button data-autofocus onClick={props.onClose}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
