import { Button, Group } from '@mantine/core';
import { CopyButton } from './CopyButton.tsx';
import { IconDownload } from './icons.tsx';

/** Buttons to copy a text and to save it as a file. */
export function CopyAndDownload({ text, fileName }: { text: string; fileName: string }) {
  return (
    <Group gap="xs">
      <CopyButton value={text}>
        {({ copied, copy, icon }) => (
          <Button variant="default" leftSection={icon} onClick={copy}>
            {copied ? 'Copied!' : 'Copy'}
          </Button>
        )}
      </CopyButton>
      <Button
        component="a"
        href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
        download={fileName}
        variant="default"
        leftSection={<IconDownload />}
      >
        Download
      </Button>
    </Group>
  );
}
