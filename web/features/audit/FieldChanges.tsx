import { Button } from '@mantine/core';
import { useState } from 'react';
import type { NamedRecord } from '../../../contract/audit.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { counted } from '../../ui/counted.ts';
import classes from './audit.module.css';
import { differences, valueText, type Difference } from './differences.ts';

type Fields = Record<string, unknown> | null;

/** Before → after, field by field; unchanged fields are shown on request. */
export function FieldChanges(props: { before: Fields; after: Fields; records?: readonly NamedRecord[] }) {
  const { before, after, records = [] } = props;
  const [whole, setWhole] = useState(false);
  const all = differences(before, after);
  const changed = all.filter((one) => one.kind !== 'same');
  const same = all.length - changed.length;
  if (all.length === 0) return null;
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
              <th scope="row">{one.field}</th>
              <Value of={one} side="before" records={records} />
              <Value of={one} side="after" records={records} />
            </tr>
          ))}
        </tbody>
      </table>
      {same > 0 && (
        <Button
          variant="subtle"
          size="compact-xs"
          mt={6}
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? 'Hide' : 'Show'} {counted(same, 'unchanged field')}
        </Button>
      )}
    </div>
  );
}

/** `<del>` and `<ins>` make the meaning of the colors accessible. */
function Value(props: { of: Difference; side: 'before' | 'after'; records: readonly NamedRecord[] }) {
  const { of, side, records } = props;
  const { kind, ...values } = of;
  const text = valueText(values[side]);
  if (text === null) return <td className={classes.nothing}>—</td>;
  const record = records.find(({ id, name }) => text === id || text === name);
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
