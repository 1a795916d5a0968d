import { Button, FileButton, Input, Text } from '@mantine/core';
import { useId, type DragEvent, type ReactNode } from 'react';
import { acceptedExtensions } from '../../../contract/file-names.ts';
import { bytesText } from '../../ui/bytes.ts';
import { useDropZone } from '../../ui/drop-zone.ts';
import { IconFileUpload } from '../../ui/icons.tsx';
import { droppedFiles, type ChosenFile } from './upload-file.ts';
import classes from './uploads.module.css';

const accepted = acceptedExtensions.join(', ');
export const wrongType = `Accepted types: ${accepted}`;

/** File input and drop zone. */
export function FileChoice(props: {
  chosen: ChosenFile | null;
  /** Name of the file that must be selected again. */
  lost: string | undefined;
  error: ReactNode;
  onChoose: (chosen: ChosenFile) => void;
  onReject: (message: string) => void;
}) {
  const { chosen, lost, error, onChoose, onReject } = props;

  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const [first, second] = await droppedFiles(event.dataTransfer.items);
    if (second) onReject('Drop one file at a time');
    else if (first) onChoose(first);
  };
  const dropZone = useDropZone((event) => void drop(event));

  const id = useId();
  return (
    <Input.Wrapper label="File" required labelElement="div" error={error} errorProps={{ id: `${id}-error` }}>
      <div className={classes.drop} data-wrong={error ? true : undefined} {...dropZone}>
        <IconFileUpload size={22} stroke={1.25} color="var(--mantine-color-dimmed)" />
        <div id={id} className={classes.what}>
          <div className={classes.name}>{chosen ? chosen.file.name : 'Drop a file here or choose one'}</div>
          <Text className={classes.small}>
            {chosen
              ? bytesText(chosen.file.size)
              : lost
                ? `The page was reloaded: choose ${lost} again.`
                : accepted}
          </Text>
        </div>
        <FileButton
          accept={acceptedExtensions.join(',')}
          onChange={(file) => file && onChoose({ file, handle: null })}
        >
          {(button) => (
            <Button
              {...button}
              variant="default"
              data-autofocus
              aria-describedby={error ? `${id} ${id}-error` : id}
            >
              {chosen ? 'Choose Another File' : 'Choose File'}
            </Button>
          )}
        </FileButton>
      </div>
    </Input.Wrapper>
  );
}
