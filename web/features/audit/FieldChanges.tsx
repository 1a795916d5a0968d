import { Button } from '@mantine/core';
import { useState } from 'react';
import type { NamedRecord } from '../../../contract/audit.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { counted } from '../../ui/counted.ts';
import classes from './audit.module.css';
import { fieldWord } from './audit-words.ts';
import { differences, valueText, type Difference } from './differences.ts';
import { valueWord } from './field-words.ts';

type Fields = Record<string, unknown> | null;
type Read = (field: string, value: unknown) => string | null;

/**
 * Before → after, field by field, in the words of the console. Unchanged fields are shown on request, and `stored` ones
 * as they are stored. `resource`: the type of the record, which decides how its fields are called.
 */
export default function FieldChanges(props: {
  resource: string;
  before: Fields;
  after: Fields;
  records?: readonly NamedRecord[];
  stored?: boolean;
}) {
  const { resource, before, after, records = [], stored = false } = props;
  const [whole, setWhole] = useState(false);
  const [raw, setRaw] = useState(false);
  const all = differences(before, after);
  const changed = all.filter((one) => one.kind !== 'same');
  const same = all.length - changed.length;
  if (all.length === 0) return null;
  const read: Read = (field, value) => (raw ? valueText(value) : valueWord(resource, field, value));
  return (
    <div role="group" aria-label="Changes">
      <h3 className="heading" style={{ marginBottom: 6 }}>
        {before && after ? 'Changes' : after ? 'Record' : 'Record before'}
      </h3>
      <table className={classes.changes}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {(whole ? all : changed).map((one) => (
            <tr key={one.field} data-kind={one.kind}>
              <th scope="row">{raw ? one.field : fieldWord(resource, one.field)}</th>
              <Value of={one} side="before" read={read} records={records} />
              <Value of={one} side="after" read={read} records={records} />
            </tr>
          ))}
        </tbody>
      </table>
      {same > 0 && (
        <Button {...subtle} aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Hide' : 'Show'} {counted(same, 'unchanged field')}
        </Button>
      )}
      {stored && (
        <Button {...subtle} aria-pressed={raw} onClick={() => setRaw(!raw)}>
          As Stored
        </Button>
      )}
    </div>
  );
}

const subtle = { variant: 'subtle', size: 'compact-xs', mt: 6 } as const;

/** `<del>` and `<ins>` make the meaning of the colors accessible. */
function Value(props: {
  of: Difference;
  side: 'before' | 'after';
  read: Read;
  records: readonly NamedRecord[];
}) {
  const { of, side, read, records } = props;
  const { kind, field, ...values } = of;
  const value = values[side];
  const words = read(field, value);
  // a change that the words do not show, such as of a time within a day
  const isAlike = kind === 'changed' && words === read(field, values[side === 'before' ? 'after' : 'before']);
  const text = isAlike ? valueText(value) : words;
  if (text === null) return <td className={classes.nothing}>—</td>;
  const record = records.find(({ id, name }) => value === id || value === name);
  const shown = record ? (
    <RecordLink kind={record.kind} id={record.id} inherit>
      {text}
    </RecordLink>
  ) : (
    text
  );
  if (kind === 'same') return <td>{shown}</td>;
  return <td>{side === 'before' ? <del>{shown}</del> : <ins>{shown}</ins>}</td>;
}
