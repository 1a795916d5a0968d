import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { daysKept, longestRetentionDays, type audit } from '../../../contract/audit.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { messageOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { useEntered } from '../../dialog-form.ts';
import { conflictOf } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { CancelButton, Dialog } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/counted.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { fullTime } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import type { TypedNumber } from '../../ui/typed-number.ts';
import { useChange } from '../../use-change.ts';
import { auditConfigQuery, cleanUp, cleanUpImpactQuery, setRetention } from './queries.ts';
import { countText } from '../../ui/numbers.ts';

type Config = RouteAnswer<typeof audit.config>;

/** How long entries are kept, and the cleanup by that limit. */
export default function Retention({ onClose }: { onClose: () => void }) {
  const config = useQuery(auditConfigQuery);
  return (
    <Dialog title="Retention" onClose={onClose}>
      <LoadedForm query={config} title="The setting could not be loaded" heights={[60]}>
        {(data) => <RetentionForm config={data} onClose={onClose} />}
      </LoadedForm>
    </Dialog>
  );
}

function RetentionForm({ config, onClose }: { config: Config; onClose: () => void }) {
  const { hasPermission } = useAuth();
  const mayChange = hasPermission('audit', 'update');
  const [entered, setTyped] = useEntered<TypedNumber | undefined>('retention', undefined);
  // what was entered before the right was lost
  const typed = mayChange ? entered : undefined;
  // what a colleague sets meanwhile is shown, and not set back, until something is typed
  const days = typed ?? config.retentionDays;
  const [seen, setSeen] = useSeen('retention', config.retentionDays);
  const save = useChange({
    mutationFn: setRetention,
    onError: (error) => {
      const theirs = conflictOf(error)?.details[0]?.current;
      if (typeof theirs === 'number') setSeen(theirs);
    },
    onSuccess: ({ retentionDays }) => {
      void toast({
        message: `Audit entries are kept for ${retentionDays} days`,
        subject: { name: 'Audit entries' },
      });
      onClose();
    },
  });
  // the days that the question names
  const [cleaning, setCleaning] = useState<number>();
  const [isLeft, setIsLeft] = useState(false);
  const problem = daysKept.safeParse(days).error?.issues[0]?.message;
  return (
    <form
      ref={focusLate}
      onSubmit={(event) => {
        event.preventDefault();
        setIsLeft(true);
        if (problem || typeof days !== 'number') return;
        if (typed === undefined) onClose();
        else save.mutate({ value: days, seen });
      }}
    >
      <Stack gap="md">
        {mayChange ? (
          <Fields busy={save.isPending}>
            <NumberField
              label="Keep entries for (days)"
              description="Older entries are removed once a day. A signed anchor stays in their place, so that the rest can still be verified."
              inputWrapperOrder={['label', 'input', 'error', 'description']}
              data-autofocus
              min={config.shortestRetentionDays}
              max={longestRetentionDays}
              value={days}
              onChange={(value) => {
                if (typed === undefined) setSeen(config.retentionDays);
                setTyped(value === config.retentionDays ? undefined : value);
                setIsLeft(false);
              }}
              onBlur={() => setIsLeft(true)}
              error={isLeft && problem}
            />
          </Fields>
        ) : (
          <Text size="sm">Entries are kept for {counted(config.retentionDays, 'day')}.</Text>
        )}
        {!problem && typeof days === 'number' && days < config.retentionDays && <Shorter days={days} />}
        {hasPermission('audit', 'delete') && (
          <Text size="xs" c="dimmed">
            Remove what is older than {config.retentionDays} days{' '}
            <Button
              variant="default"
              size="compact-xs"
              ml={4}
              onClick={() => setCleaning(config.retentionDays)}
            >
              Clean Up Now
            </Button>
          </Text>
        )}
        {save.error && (
          <ErrorText>
            {conflictOf(save.error)
              ? `Someone else set ${seen} days meanwhile. Save again to set ${save.variables.value}.`
              : messageOf(save.error)}
          </ErrorText>
        )}
        <Group justify="flex-end" gap="xs">
          <CancelButton onCancel={onClose} />
          {mayChange && (
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          )}
        </Group>
      </Stack>
      {cleaning !== undefined && (
        <CleanUp
          days={cleaning}
          onCleaned={() => typed === undefined && onClose()}
          onClose={() => setCleaning(undefined)}
        />
      )}
    </form>
  );
}

/** What the daily cleanup deletes when the retention is shortened. */
function Shorter({ days }: { days: number }) {
  const consequences = useQuery({
    ...cleanUpImpactQuery(days),
    select: (impact) => [removalSentence(impact, 'removed by the next daily cleanup')],
  });
  return <ConsequenceList of={consequences} />;
}

function CleanUp(props: { days: number; onCleaned: () => void; onClose: () => void }) {
  const { days, onCleaned, onClose } = props;
  const consequences = useQuery({
    ...cleanUpImpactQuery(days),
    select: (impact) => [
      removalSentence(impact, 'permanently deleted'),
      ...(impact.entries > 0 ? ['The rest can still be verified, by the signed anchor in their place.'] : []),
    ],
  });
  const confirmed = useConfirmedChange({
    change: () => cleanUp(days),
    done: ({ removed }) => {
      onCleaned();
      const subject = { name: 'Audit log' };
      if (removed === 0) return { message: 'Nothing is older than that', subject };
      return { message: `${counted(removed, 'entry', 'entries')} removed`, subject };
    },
    onClose,
  });
  return (
    <ConfirmDialog
      title="Clean Up Audit Log"
      message={`Remove what is older than ${days} days?`}
      consequences={consequences}
      confirmLabel="Clean Up"
      {...confirmed}
    />
  );
}

function removalSentence({ entries, oldest, newest }: RouteAnswer<typeof audit.cleanupImpact>, fate: string) {
  if (entries === 0 || !oldest || !newest) return 'No entry is older than that.';
  if (entries === 1) return `1 entry is ${fate}, of ${fullTime(oldest)}.`;
  return `${countText(entries)} entries are ${fate}: from ${fullTime(oldest)} to ${fullTime(newest)}.`;
}
