import { Button, Checkbox, Group, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ImportProblem } from '../../../contract/imports.ts';
import { ApiError, mayBeDone, sentenceOf } from '../../api-error.ts';
import { useEntered } from '../../dialog-form.ts';
import { askedOnce } from '../../query-client.ts';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { counted } from '../../ui/counted.ts';
import { CancelButton } from '../../ui/Dialog.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { useLastFile } from '../../ui/last-file.ts';
import { useChange } from '../../use-change.ts';
import { CsvInput } from './CsvInput.tsx';
import classes from './imports.module.css';

type Checked<Row> = {
  problems: ImportProblem[];
  moreProblems: number;
  rows: Row[];
  names: string[];
  checked: string;
};
/** `times` that a text was entered: each is checked, also the same one again. */
type Entered = { csv: string; option: boolean; times: number };
const nothing: Entered = { csv: '', option: false, times: 0 };
type Sent = Entered & { checked: string };

type Props<Row, Made> = {
  /** What a row becomes, as in `1 license`. */
  noun: string;
  verb: string;
  columns: readonly string[];
  template: { name: string; text: string };
  /** The label of the option, which is about so many customers; undefined where the user may not choose it. */
  option: ((count: number) => string) | undefined;
  check: (csv: string, option: boolean, signal: AbortSignal) => Promise<Checked<Row>>;
  /** `checked`: of the check that was shown. */
  save: (csv: string, option: boolean, checked: string) => Promise<Made>;
  /** The cells of a row in the preview. */
  cells: Readonly<Record<string, (row: Row) => ReactNode>>;
  onSaved: (made: Made) => void;
  onClose: () => void;
};

/** Lines that are shown of an import. */
const mostShown = 100;
/** After typing stops, in milliseconds. */
const delay = 400;

/** A CSV file, what it would do or what is wrong with it, and the button that does all of it. */
export function CsvImport<Row extends { line: number }, Made>(props: Props<Row, Made>) {
  const { noun, verb, option } = props;
  const [entered, setEntered] = useEntered<Entered>(`import: ${noun}`, nothing);
  const [settled] = useDebouncedValue(entered, delay);
  const checked = useQuery({
    queryKey: ['imports', noun, settled],
    queryFn: ({ signal }) => props.check(settled.csv, settled.option, signal),
    enabled: settled.csv.trim() !== '',
    placeholderData: keepPreviousData,
    ...askedOnce,
  });
  // What may have been done without an answer is sent again as it was, also if it was checked again since.
  const [sent, setSent] = useEntered<Sent | null>(`import sent: ${noun}`, null);
  const save = useChange({
    mutationFn: ({ csv, option: isChosen, checked: shown }: Sent) => props.save(csv, isChosen, shown),
    onSuccess: (made) => {
      setSent(null);
      setEntered(nothing);
      props.onSaved(made);
    },
    // refused: checked again, since the data may have changed
    onError: (error) => {
      if (mayBeDone(error)) return;
      // 401, 403 and 429 say nothing of what was sent before
      if (error instanceof ApiError && [409, 422].includes(error.status)) setSent(null);
      void checked.refetch();
    },
  });
  const file = useLastFile();
  const isFresh = !file.isReading && settled === entered && !checked.isPlaceholderData;
  const data = entered.csv.trim() === '' ? undefined : checked.data;
  const isEntered = (one: Entered | null | undefined) =>
    one?.csv === entered.csv && one.option === entered.option;
  const refused =
    isEntered(save.variables) && !checked.error && data?.problems.length === 0 ? save.error : null;
  const isReady = isFresh && data?.problems.length === 0 && data.rows.length > 0;
  const submit = () => {
    if (!isReady) return;
    const next = sent && isEntered(sent) ? sent : { ...entered, checked: data.checked };
    setSent(next);
    save.mutate(next);
  };
  return (
    <Stack gap="md">
      <Fields busy={save.isPending}>
        <CsvInput
          columns={props.columns}
          template={props.template}
          value={entered.csv}
          file={file}
          onChange={(csv) =>
            setEntered(({ option: isChosen, times }) => ({
              csv,
              option: isChosen,
              times: csv === '' ? 0 : times + 1,
            }))
          }
        />
        {/* stays while it is chosen, so that it can be taken back */}
        {option && (entered.option || (data && data.names.length > 0)) && (
          <Checkbox
            label={option(data?.names.length ?? 0)}
            checked={entered.option}
            onChange={(event) => setEntered({ ...entered, option: event.currentTarget.checked })}
          />
        )}
      </Fields>
      {checked.error ? (
        <ErrorText onRetry={checked.refetch}>
          {sentenceOf(checked.error, 'The file could not be checked')}
        </ErrorText>
      ) : data ? (
        <div aria-busy={!isFresh} style={{ opacity: isFresh ? undefined : 0.5 }}>
          {data.problems.length > 0 ? (
            <Problems problems={data.problems} more={data.moreProblems} noun={noun} />
          ) : (
            <Preview rows={data.rows} cells={props.cells} noun={noun} />
          )}
        </div>
      ) : (
        entered.csv.trim() !== '' && <Skeleton height={120} role="group" aria-label="Checking" />
      )}
      {refused && <ErrorText>{sentenceOf(refused, 'The import failed')}</ErrorText>}
      <Group justify="flex-end" gap="xs">
        <CancelButton onCancel={props.onClose} />
        <Button disabled={!isReady} loading={save.isPending} onClick={submit}>
          {isReady ? `${verb} ${counted(data.rows.length, noun)}` : verb}
        </Button>
      </Group>
    </Stack>
  );
}

function Problems({ problems, more, noun }: { problems: ImportProblem[]; more: number; noun: string }) {
  const all = problems.length + more;
  const hidden = all - mostShown;
  return (
    <Stack gap={6}>
      <Text role="alert" c="var(--mantine-color-error)">
        {counted(all, 'error')}. No {noun} is made until the file has none.
      </Text>
      <BoxedList label="Errors">
        {problems.slice(0, mostShown).map(({ line, column, message }, index) => (
          <li key={index} style={{ overflowWrap: 'anywhere' }}>
            <b>{column ? `Line ${line}, ${column}` : `Line ${line}`}</b>: {message}
          </li>
        ))}
        {hidden > 0 && <li>… and {counted(hidden, 'more error')}</li>}
      </BoxedList>
    </Stack>
  );
}

function Preview<Row extends { line: number }>(
  props: Pick<Props<Row, never>, 'cells' | 'noun'> & { rows: Row[] },
) {
  const { rows, cells, noun } = props;
  const hidden = rows.length - mostShown;
  return (
    <Stack gap={6}>
      <Text role="status">{counted(rows.length, noun)} without an error.</Text>
      {rows.length > 0 && (
        <div className={classes.rows} tabIndex={0} role="region" aria-label="Preview">
          <Table miw={620}>
            <Table.Thead>
              <Table.Tr>
                {Object.keys(cells).map((name) => (
                  <Table.Th key={name}>{name}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.slice(0, mostShown).map((row) => (
                <Table.Tr key={row.line}>
                  {Object.entries(cells).map(([name, cell]) => (
                    <Table.Td key={name} style={{ overflowWrap: 'anywhere' }}>
                      {cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {hidden > 0 && <Text c="dimmed">… and {counted(hidden, `more ${noun}`)}</Text>}
    </Stack>
  );
}
