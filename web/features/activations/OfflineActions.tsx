import { Button, Group } from '@mantine/core';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { useNow } from '../../ui/use-now.ts';

const dialogs = {
  activation: lazyPart(() => import('./OfflineActivation.tsx')),
  receipt: lazyPart(() => import('./ReturnReceipt.tsx')),
};

/** For machines without a network: a license file for their request, and the seat back for their receipt. */
export function OfflineActions({
  license,
  graceDays,
}: {
  license: License | undefined;
  /** For how many days after its end a license file counts. */
  graceDays: number;
}) {
  const { can } = useAuth();
  const [open, setOpen] = useKept<keyof typeof dialogs>('open: offline machine');
  const Opened = open && dialogs[open];
  const now = useNow();
  const refusal = can.updateLicenses ? null : 'You may not update licenses';
  const noActivation = refusal ?? (license ? licenseRefusal.activateOffline(license, now) : null);
  return (
    <Group justify="flex-end" gap="xs">
      <DisabledReason reason={refusal}>
        <Button variant="default" disabled={!license} onClick={() => setOpen('receipt')}>
          Return Receipt
        </Button>
      </DisabledReason>
      <DisabledReason reason={noActivation}>
        <Button disabled={!license} onClick={() => setOpen('activation')}>
          Offline Activation
        </Button>
      </DisabledReason>
      {license && Opened && (
        <LazyDialogs>
          <Opened license={license} graceDays={graceDays} onClose={() => setOpen(undefined)} />
        </LazyDialogs>
      )}
    </Group>
  );
}
