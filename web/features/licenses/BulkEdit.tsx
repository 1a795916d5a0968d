import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { BulkChange, PlannedChange } from '../../../contract/license-bulk.ts';
import { midnightOf } from '../../../contract/license-term.ts';
import { licenseLabels } from '../../field-labels.ts';
import { useEntered } from '../../dialog-form.ts';
import { oneOf } from '../../search-params.ts';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { isDay } from '../../ui/day.ts';
import { DayField } from '../../ui/DayField.tsx';
import { CancelButton, Dialog } from '../../ui/Dialog.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { dayProblem } from '../../ui/typed-day.ts';
import { readNumber } from '../../ui/typed-number.ts';
import { ModulePicker } from '../modules/index.ts';
import { bulkPreviewQuery, type BulkTarget } from './bulk-queries.ts';
import { BulkPreview, Named } from './BulkPreview.tsx';
import { BulkProgress } from './BulkProgress.tsx';
import { countOf } from './license-labels.ts';
import { outcomeText, useBulkEdit } from './use-bulk-edit.ts';

type BulkEditKind = keyof typeof kinds;

const kinds = {
  extend: { title: 'Extend Licenses', verb: 'Extend', past: 'extended' },
  modules: { title: 'Change Modules', verb: 'Change', past: 'changed' },
  revoke: { title: 'Revoke Licenses', verb: 'Revoke', past: 'revoked' },
  reactivate: { title: 'Reactivate Licenses', verb: 'Reactivate', past: 'reactivated' },
} as const;

const width = 560;

/** Extends, revokes or reactivates many licenses, or changes their modules: preview, progress, result, and Undo. */
export function BulkEdit(props: {
  kind: BulkEditKind;
  target: BulkTarget;
  onDone: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={kinds[props.kind].title} focusTitle size={width} onClose={props.onClose}>
      <BulkEditSteps {...props} />
    </Dialog>
  );
}

function BulkEditSteps({ kind, target, onDone, onClose }: Parameters<typeof BulkEdit>[0]) {
  const { verb, past } = kinds[kind];
  const { run, running, sent, askAgain, putBack, finished, stop } = useBulkEdit(kind, past);
  if (running)
    return (
      <Stack gap="md" ref={focusLate}>
        <BulkProgress finished={finished} total={running.all.length} onStop={stop} />
      </Stack>
    );
  if (sent) {
    const { wanted, outcome, undoes } = sent;
    const { done, unknown } = outcome;
    return (
      <Result
        outcome={outcome}
        text={outcomeText(wanted, outcome, undoes ? 'put back' : past)}
        onClose={onClose}
      >
        {unknown.length > 0 ? (
          <Button
            variant="default"
            data-hint={`Asks what happened to them${outcome.isStopped ? '' : `, and continues to ${undoes ? 'put back' : verb.toLowerCase()} the rest`}`}
            onClick={() => askAgain(sent)}
          >
            Ask Again
          </Button>
        ) : (
          done.length > 0 &&
          !undoes && (
            <Button variant="default" onClick={() => putBack(done)}>
              Undo
            </Button>
          )
        )}
      </Result>
    );
  }
  const choice = {
    target,
    verb,
    onCancel: onClose,
    onConfirm: (planned: PlannedChange[]) => run.mutate({ all: planned }, { onSuccess: onDone }),
  };
  switch (kind) {
    case 'extend':
      return <ExtendChoice {...choice} />;
    case 'modules':
      return <ModulesChoice {...choice} />;
    case 'revoke':
      return <RevokeChoice {...choice} />;
    case 'reactivate':
      return <Steps {...choice} change={{ kind: 'status', status: 'active' }} />;
  }
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
  const [isLeft, setIsLeft] = useState(false);
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
          label={licenseLabels.validUntil}
          description="Ends when this day begins in UTC"
          required
          value={until}
          error={isLeft && dayProblem(until)}
          onChange={(day) => {
            setIsLeft(false);
            setEntered({ ...entered, until: day });
          }}
          onBlur={() => setIsLeft(true)}
        />
      )}
    </Steps>
  );
}

function extensionOf(by: (typeof periods)[number], until: string): BulkChange | undefined {
  if (by === 'days') return { kind: 'extendByDays', days: 30 };
  if (by === 'year') return { kind: 'extendByMonths', months: 12 };
  return isDay(until) ? { kind: 'extendTo', validUntil: midnightOf(until) } : undefined;
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

/** Of all licenses that a filter matches, their number is typed: a wrong filter is noticed. */
function RevokeChoice(props: ChoiceProps) {
  const [typed, setTyped] = useEntered('revoke licenses', '');
  const isFilter = 'search' in props.target;
  return (
    <Steps
      {...props}
      change={{ kind: 'status', status: 'revoked' }}
      isConfirmed={(planned) => !isFilter || readNumber(typed) === planned.length}
    >
      {isFilter && (
        <TextInput
          label="Number of licenses"
          description="Type how many licenses are revoked, as the preview says"
          inputMode="numeric"
          autoComplete="off"
          required
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </Steps>
  );
}

/** The choice, what it would change, and the button that does exactly that. */
function Steps(
  props: ChoiceProps & {
    change: BulkChange | undefined;
    isConfirmed?: (planned: PlannedChange[]) => boolean;
    children?: ReactNode;
  },
) {
  const { isConfirmed = () => true } = props;
  const preview = useQuery(bulkPreviewQuery(props.target, props.change));
  const planned =
    props.change && preview.data && !preview.isPlaceholderData ? preview.data.changed : undefined;
  const isReady = planned !== undefined && planned.length > 0 && isConfirmed(planned);
  return (
    <Stack gap="md">
      {props.children}
      {props.change && <BulkPreview preview={preview} />}
      <Group justify="flex-end" gap="xs">
        <CancelButton onCancel={props.onCancel} />
        <Button disabled={!isReady} onClick={() => planned && isReady && props.onConfirm(planned)}>
          {isReady ? `${props.verb} ${countOf(planned.length)}` : props.verb}
        </Button>
      </Group>
    </Stack>
  );
}

function Result(props: {
  outcome: NonNullable<ReturnType<typeof useBulkEdit>['sent']>['outcome'];
  text: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { failed, unknown } = props.outcome;
  const isBad = failed.length > 0 || unknown.length > 0;
  return (
    <Stack gap="md" ref={focusLate}>
      <Text role={isBad ? 'alert' : 'status'} tabIndex={-1} data-autofocus>
        {props.text}
        {failed.length > 0 && ':'}
      </Text>
      {failed.length > 0 && (
        <BoxedList label="Licenses">
          {failed.map(({ planned, reason }) => (
            <li key={planned.licenseId}>
              <Named license={planned} />
              <Text c="var(--mantine-color-error)">{reason}</Text>
            </li>
          ))}
        </BoxedList>
      )}
      <Group justify="flex-end" gap="xs">
        {props.children}
        <Button onClick={props.onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
