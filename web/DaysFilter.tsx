import { useState } from 'react';
import { mostDaysBack } from '../contract/durations.ts';
import { bestFirst, matching, type Choice } from './ui/best-match.ts';
import { lazyPart } from './ui/lazy-part.ts';
import { readNumber } from './ui/typed-number.ts';
import { ClosedSelect, Late } from './ui/Late.tsx';

const SearchSelect = lazyPart(async () => ({
  default: (await import('./ui/SearchSelect.tsx')).SearchSelect,
}));

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
  // a sign or a second number must not be lost: `-5`, `7 or 30`
  const numbers = typed.match(/[-−]?\p{N}[\p{N}.,'’]*/gu) ?? [];
  const days = numbers.length === 1 ? Number(readNumber(numbers[0] ?? '')) : Number.NaN;
  const isDays = Number.isInteger(days) && days >= 1 && days <= mostDaysBack;
  const set = /\d+/.exec(value ?? '')?.[0];
  const chosen = set ? choicesOf(set).find((choice) => choice.value === value) : undefined;
  const isUsual = !chosen || choices.some((choice) => choice.value === value);
  const offered = isUsual ? choices : [chosen, ...choices];
  return (
    <Late look={<ClosedSelect {...look} value={chosen?.label ?? ''} />}>
      <SearchSelect
        {...look}
        clearable
        data={numbers.length === 0 ? offered : isDays ? choicesOf(String(days)) : []}
        match={numbers.length > 0 ? bestFirst : matching}
        nothingFound={`A whole number of days, 1 to ${mostDaysBack}`}
        onSearch={setTyped}
        value={value ?? null}
        chosenLabel={chosen?.label}
        onChange={(next) => onChange(next ?? undefined)}
      />
    </Late>
  );
}
