import { Anchor, Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '../../api-error.ts';
import { useTextDropZone } from '../../ui/drop-zone.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { IconFileUpload } from '../../ui/icons.tsx';
import type { LastFile } from '../../ui/last-file.ts';
import { textOfCsvFile, type CsvText } from './csv-file.ts';
import classes from './imports.module.css';

/** The field for a CSV text: pasted, or from a file that is chosen or dropped; with the template. */
export function CsvInput(props: {
  value: string;
  columns: readonly string[];
  template: { name: string; text: string };
  file: LastFile;
  onChange: (csv: string) => void;
}) {
  const { columns, template, file, onChange } = props;
  const [problem, setProblem] = useState<string>();
  const [isGuess, setGuess] = useState(false);

  const enter = (entered: CsvText, wrong?: string) => {
    file.stop();
    setProblem(wrong);
    setGuess(entered.isGuess);
    onChange(entered.text);
  };
  // what the last file said must not be taken for this one
  const reject = (wrong: string) => enter({ text: '', isGuess: false }, wrong);
  const choose = (chosen: File) =>
    file.read(textOfCsvFile(chosen), enter, (error) => reject(messageOf(error)));
  const dropZone = useTextDropZone(choose, reject);
  return (
    <Stack gap="xs" className={classes.drop} {...dropZone}>
      <Text c="dimmed">
        Columns: {columns.join(', ')}.{' '}
        <Anchor
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(`\ufeff${template.text}`)}`}
          download={template.name}
          underline="always"
        >
          Download template
        </Anchor>
      </Text>
      <Textarea
        label="CSV"
        description="Paste cells from a spreadsheet, or choose or drop a file"
        data-autofocus
        autosize
        minRows={4}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        className={classes.text}
        value={props.value}
        onChange={(event) => enter({ text: event.currentTarget.value, isGuess: false })}
        // the same text again is no change
        onPaste={() => onChange(props.value)}
      />
      <Group>
        <FileButton accept=".csv,.txt,.tsv,text/csv" onChange={(chosen) => chosen && choose(chosen)}>
          {(button) => (
            <Button {...button} variant="default" leftSection={<IconFileUpload />}>
              Choose File
            </Button>
          )}
        </FileButton>
      </Group>
      {isGuess && (
        <Text size="xs" role="note" className="amber-note">
          This file is not Unicode. If letters look wrong, save it as CSV UTF-8 and choose that.
        </Text>
      )}
      {problem && <ErrorText>{problem}</ErrorText>}
    </Stack>
  );
}
