import { lazy, useState } from 'react';
import { mostDaysBack } from '../contract/durations.ts';
import { bestFirst, matching, type Choice } from './ui/best-match.ts';
import { ClosedSelect, Late } from './ui/Late.tsx';

const SearchSelect = lazy(async () => ({ default: (await import('./ui/SearchSelect.tsx')).SearchSelect }));

/** A filter by any number of days, with usual ones to choose from; empty, it shows everything. */
export function DaysFilter(props: {
  label: string;
  placeholder: string;
  choices: Choice[];
  /** The choices that a typed number gives. */
  choicesOf: (days: string) => Choice[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { choices, choicesOf, value, onChange, ...look } = props;
  const [typed, setTyped] = useState('');
  const number = /\d[\d.,]*/.exec(typed)?.[0];
  const isDays = Number.isInteger(Number(number)) && Number(number) >= 1 && Number(number) <= mostDaysBack;
  const set = /\d+/.exec(value ?? '')?.[0];
  const chosen = set ? choicesOf(set).find((choice) => choice.value === value) : undefined;
  const isUsual = !chosen || choices.some((choice) => choice.value === value);
  const offered = isUsual ? choices : [chosen, ...choices];
  return (
    <Late look={<ClosedSelect {...look} value={chosen?.label ?? ''} />}>
      <SearchSelect
        {...look}
        clearable
        data={!number ? offered : isDays ? choicesOf(String(Number(number))) : []}
        match={number ? bestFirst : matching}
        nothingFound={`A number of days, 1 to ${mostDaysBack}`}
        onSearch={setTyped}
        value={value ?? null}
        chosenLabel={chosen?.label}
        onChange={(next) => onChange(next ?? undefined)}
      />
    </Late>
  );
}
