/** Returns `value`, which is defined because of `why`; throws if it is not. */
export function present<Value>(value: Value, why: string): NonNullable<Value> {
  if (value === null || value === undefined) throw new Error(`Missing, against the rule: ${why}`);
  return value;
}

/** The row of a query that always returns exactly one, such as a count. */
export const onlyRow = <Row>({ rows }: { rows: readonly Row[] }): Row =>
  present(rows[0], 'the query always has a row');
