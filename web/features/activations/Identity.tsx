import { Text } from '@mantine/core';
import type { ListedActivation } from '../../../contract/activations.ts';
import { MachineLink } from '../../shell/RecordLink.tsx';
import { IconAlertTriangle } from '../../ui/icons.tsx';
import { shortDate } from '../../ui/time.ts';

/**
 * Since when a machine proves who it is, which record it has if its machine id is taken, and whether its credential was
 * seen on another machine as well.
 */
export function Identity({
  of: { enrolledAt, clonedAt, ownRecord },
}: {
  of: Pick<ListedActivation, 'enrolledAt' | 'clonedAt' | 'ownRecord'>;
}) {
  return (
    <>
      {enrolledAt && (
        <Text size="xs" c="dimmed" lh="1rem">
          Proven since {shortDate(enrolledAt)}
        </Text>
      )}
      {ownRecord && (
        <Text size="xs" c="dimmed" lh="1rem">
          Machine id of another customer; recorded as <MachineLink displayId={ownRecord} inherit />
        </Text>
      )}
      {clonedAt && (
        <Text size="xs" c="var(--ui-amber-text)" lh="1rem">
          <IconAlertTriangle size={12} stroke={2} style={{ verticalAlign: -1, marginRight: 4 }} />
          Seen on two machines at once since {shortDate(clonedAt)}
        </Text>
      )}
    </>
  );
}
