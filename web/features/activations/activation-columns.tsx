import { Text } from '@mantine/core';
import type { Activation, ListedActivation } from '../../../contract/activations.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge, type Tone } from '../../ui/StatusBadge.tsx';
import { platformText } from '../../platform-text.ts';
import { Identity } from './Identity.tsx';
import { OfflineBadge } from './OfflineBadge.tsx';

export const activationColumns: Column<ListedActivation>[] = [
  { id: 'machineId', header: 'Machine ID', cell: (activation) => <Machine activation={activation} /> },
  { id: 'status', header: 'Status', cell: (activation) => <ActivationStatus activation={activation} /> },
  {
    id: 'activationType',
    header: 'Activation Type',
    cell: (activation) => types[activation.activationType],
  },
  {
    id: 'lastCheckedAt',
    header: 'Last Checked',
    cell: (activation) => <RelativeTime value={activation.lastCheckedAt} />,
  },
  { id: 'createdAt', header: 'Created', cell: (activation) => <RelativeTime value={activation.createdAt} /> },
];

const longestMachineId = 36;

/** The id, and below it what the machine reported about itself. */
function Machine({ activation: a }: { activation: ListedActivation }) {
  const system = (a.platform ?? a.architecture) !== null && platformText(a.platform, a.architecture);
  const known = [system, a.appVersion && `app ${a.appVersion}`].filter(Boolean).join(' · ');
  const shown =
    a.machineId.length > longestMachineId ? `${a.machineId.slice(0, longestMachineId - 1)}…` : a.machineId;
  return (
    <div style={{ padding: '5px 0' }}>
      <CopyText value={a.machineId} shown={shown} what="machine ID" />
      <Text size="xs" c="dimmed" lh="1rem">
        <RecordLink kind="machine" id={a.ownRecord ?? a.machineId} inherit>
          {a.hostname ?? 'Machine page'}
        </RecordLink>
        {known && ` · ${known}`}
      </Text>
      <Identity of={a} />
    </div>
  );
}

const types: Record<Activation['activationType'], string> = {
  automatic: 'Automatic',
  manual: 'Manual',
  offline: 'Offline',
};

export const activationBadges: Record<Activation['status'], { tone: Tone; word: string }> = {
  active: { tone: 'teal', word: 'Active' },
  deactivated: { tone: 'red', word: 'Deactivated' },
  released: { tone: 'neutral', word: 'Released' },
};

/** The state of a seat, and until when a machine holds it offline. */
export function ActivationStatus({
  activation,
}: {
  activation: Pick<ListedActivation, 'status' | 'offlineUntil'>;
}) {
  const { tone, word } = activationBadges[activation.status];
  return (
    <>
      <StatusBadge tone={tone}>{word}</StatusBadge> <OfflineBadge activation={activation} />
    </>
  );
}
