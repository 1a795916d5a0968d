import type { Activation } from '../../../contract/activations.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { utcDate } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import { offlineUntil } from './offline-form.ts';

/** Until when a machine may run without asking; nothing where it asks. */
export function OfflineBadge({ activation }: { activation: Pick<Activation, 'status' | 'offlineUntil'> }) {
  const until = offlineUntil(activation, useNow());
  return (
    until && (
      <div style={{ padding: '3px 0' }}>
        <StatusBadge tone="violet">Offline until {utcDate(until)}</StatusBadge>
      </div>
    )
  );
}
