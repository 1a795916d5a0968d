import { Button, FileButton, Group, Stack, Textarea } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';
import { messageOf } from '../../api-error.ts';
import { useTextDropZone } from '../../ui/drop-zone.ts';
import { IconFileUpload, IconQrcode } from '../../ui/icons.tsx';
import type { LastFile } from '../../ui/last-file.ts';
import { Camera } from './Camera.tsx';
import { textOfFile } from './signed-file.ts';
import classes from './offline.module.css';

/** Browsers offer cameras to secure pages only. */
const hasCamera = 'mediaDevices' in navigator;

/**
 * The field for a text that a machine signed: pasted, from a file that is chosen or dropped, or from its QR code, by the
 * camera or a photo.
 */
export function SignedText(props: {
  label: string;
  value?: string;
  error?: ReactNode;
  file: LastFile;
  onChange: (text: string) => void;
  onReject: (message: string) => void;
}) {
  const { file, onChange, onReject } = props;
  const [scanning, setScanning] = useState(false);
  const [said, setSaid] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);

  const enter = (text: string) => {
    file.stop();
    setSaid('');
    onChange(text);
  };
  const take = (text: string, from: string) => {
    enter(text);
    setSaid(`${props.label} read from ${from}`);
    field.current?.focus();
  };
  const reject = (wrong: string) => {
    // what the last file said must not be taken for this one
    enter('');
    onReject(wrong);
  };
  const choose = (chosen: File) =>
    file.read(
      textOfFile(chosen),
      (text) => take(text, chosen.name),
      (error) => reject(messageOf(error)),
    );
  const dropZone = useTextDropZone(choose, reject);
  return (
    <Stack gap="xs" className={classes.drop} {...dropZone}>
      <Textarea
        ref={field}
        label={props.label}
        description="The text that the program shows, its file, or its QR code"
        required
        data-autofocus
        autosize
        minRows={4}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        className={classes.text}
        value={props.value}
        error={props.error}
        onChange={(event) => enter(event.currentTarget.value)}
      />
      <Group gap="xs">
        <FileButton onChange={(chosen) => chosen && choose(chosen)}>
          {(button) => (
            <Button {...button} variant="default" leftSection={<IconFileUpload />}>
              Choose File or Photo
            </Button>
          )}
        </FileButton>
        {hasCamera && (
          <Button variant="default" leftSection={<IconQrcode />} onClick={() => setScanning(!scanning)}>
            {scanning ? 'Stop Scanning' : 'Scan QR Code'}
          </Button>
        )}
      </Group>
      {scanning && (
        <Camera
          onRead={(text) => {
            setScanning(false);
            take(text, 'the QR code');
          }}
        />
      )}
      <span role="status" className="visually-hidden">
        {said}
      </span>
    </Stack>
  );
}
