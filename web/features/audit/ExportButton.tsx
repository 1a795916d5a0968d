import { Button, Group } from '@mantine/core';
import { useRef, useState } from 'react';
import { IconDownload } from '../../ui/icons.tsx';
import { toast } from '../../ui/toast.tsx';
import type { AuditSearch } from './audit-search.ts';
import { saveExport } from './queries.ts';

/** Exports all pages of the filtered list. A long export can be cancelled. */
export function ExportButton({ search }: { search: AuditSearch }) {
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController>(null);

  async function run() {
    const cancel = new AbortController();
    running.current = cancel;
    setBusy(true);
    try {
      await saveExport(search, cancel.signal);
      void toast({ message: 'Audit logs exported successfully', subject: { name: 'CSV file' } });
    } catch {
      if (!cancel.signal.aborted)
        void toast({ message: 'Failed to export audit logs', subject: { name: 'CSV file' }, tone: 'red' });
    } finally {
      setBusy(false);
    }
  }

  return (
    <Group gap={4}>
      {/* before the other, which stays in its place: a double click must not reach this one */}
      {busy && (
        <Button variant="subtle" onClick={() => running.current?.abort()}>
          Cancel Export
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconDownload />}
        loading={busy}
        data-fetches-file
        onClick={() => void run()}
      >
        Export CSV
      </Button>
    </Group>
  );
}
