import { Button, Group, Stack, Text } from '@mantine/core';
import type { Upload } from './upload-list.ts';
import { UploadRow } from './UploadRow.tsx';

/** The modal while its upload is in progress. */
export function UploadInProgress(props: { upload: Upload; onBack: () => void; onClose: () => void }) {
  const { upload, onBack, onClose } = props;
  const stopped = ['failed', 'cancelled', 'paused', 'needs-file'].includes(upload.status);
  return (
    <Stack gap="md">
      <UploadRow upload={upload} />
      {!stopped && upload.status !== 'pausing' && (
        <Text c="dimmed" fz={12}>
          The upload continues when you close this dialog or open other screens. Keep this tab open.
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        {stopped && (
          <Button variant="default" onClick={onBack}>
            Change Details
          </Button>
        )}
        <Button variant={stopped ? 'default' : 'filled'} onClick={onClose} autoFocus>
          {stopped || upload.status === 'pausing' ? 'Close' : 'Continue in Background'}
        </Button>
      </Group>
    </Stack>
  );
}
