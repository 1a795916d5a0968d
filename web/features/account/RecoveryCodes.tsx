import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyAndDownload } from '../../ui/CopyAndDownload.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import classes from './account.module.css';

/** Each code signs in once when the app is lost. They are shown only once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const [kept, setKept] = useState(false);
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack gap="md" ref={focusLate}>
      <Text tabIndex={-1} data-autofocus>
        Each of these codes signs you in once, in place of the app. They will not be shown again: keep them
        where you keep your passwords.
      </Text>
      <ul className={`${classes.codes} mono`}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <CopyAndDownload text={text} fileName="lanyard-recovery-codes.txt" />
      <Checkbox
        label="I have kept the codes"
        checked={kept}
        onChange={(event) => setKept(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!kept} onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
