import { Button, Group, Stack, Text } from '@mantine/core';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { MachineLink } from '../../shell/RecordLink.tsx';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import { buildText } from './release-labels.ts';
import classes from './releases.module.css';
import { useReleaseConsequences } from './release-consequences.ts';
import { withdrawRelease } from './queries.ts';
import { countText } from '../../ui/numbers.ts';
import { aboutRelease } from '../../toast-subjects.ts';

type Withdrawn = Awaited<ReturnType<typeof withdrawRelease>>;

/** Removes a release from every feed immediately, and lists the machines that already have it. */
export default function WithdrawRelease({ release, onClose }: { release: Release; onClose: () => void }) {
  const consequences = useReleaseConsequences(release, 'withdraw');
  const isLeft = useIsLeft();
  const withdraw = useChange({
    mutationFn: (reason: string) => withdrawRelease(release.id, reason),
    onSuccess: () => {
      const message = `Version ${buildText(release)} withdrawn`;
      if (isLeft()) void toast({ message, subject: aboutRelease(release) });
    },
  });
  if (withdraw.data) return <AffectedMachines withdrawn={withdraw.data} onClose={onClose} />;
  return (
    <ReasonDialog
      title="Withdraw Release"
      about={release.id}
      message={
        <>Remove version {buildText(release)} from every feed now? The release stays here as inactive.</>
      }
      consequences={consequences}
      confirmLabel="Withdraw"
      busy={withdraw.isPending}
      error={withdraw.error ? messageOf(withdraw.error, 'Failed to withdraw release') : undefined}
      onConfirm={(reason) => withdraw.mutate(reason)}
      onClose={onClose}
    />
  );
}

function AffectedMachines({ withdrawn, onClose }: { withdrawn: Withdrawn; onClose: () => void }) {
  const { release, affectedMachines, affectedTotal } = withdrawn;
  const total = countText(affectedTotal);
  return (
    <Dialog title="Release withdrawn" onClose={onClose}>
      <Stack gap="md">
        <Text role="status" tabIndex={-1} data-autofocus>
          Version {buildText(release)} is in no feed any more.{' '}
          {affectedTotal === 0
            ? 'No machine has it.'
            : affectedTotal === 1
              ? 'One machine has it already:'
              : `${total} machines have it already${affectedMachines.length < affectedTotal ? `; the ${affectedMachines.length} last seen are` : ''}:`}
        </Text>
        {affectedMachines.length > 0 && (
          <BoxedList label="Affected machines">
            {affectedMachines.map(({ displayId, lastSeen }) => (
              <li key={displayId} className={classes.affected}>
                <MachineLink displayId={displayId} />
                <Text span c="dimmed" size="xs">
                  seen <RelativeTime value={lastSeen} />
                </Text>
              </li>
            ))}
          </BoxedList>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
