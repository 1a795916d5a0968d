import { Fragment, type ReactNode } from 'react';
import classes from './FilterChips.module.css';
import { filtersReplaced, replacements, type FilterChip } from './filter-chips.ts';
import { IconX } from './icons.tsx';
import { useStore } from './store.ts';

/**
 * The filters that are set, each with a button that removes it from the URL. `before`: the view that they belong to.
 * `none`: the search parameters without any filter.
 */
export function FilterChips<Search extends object>(props: {
  chips: readonly FilterChip<keyof Search & string>[];
  before: ReactNode;
  change: (changes: Search) => void;
  none: Search;
}) {
  const { chips, before, change, none } = props;
  const clear = () => {
    filtersReplaced();
    change(none);
  };
  if (chips.length === 0 && !before) return null;
  return (
    <div className={classes.chips} role="group" aria-label="Active filters">
      {before}
      {chips.map(({ name, label }) => (
        <Chip
          key={name}
          label={label}
          removeLabel={`Remove filter ${label}`}
          onRemove={() => change({ [name]: undefined } as Search)}
        />
      ))}
      {chips.length > 0 && (
        <button type="button" className={`${classes.clear} screen-only`} onClick={clear}>
          Clear Filters
        </button>
      )}
    </div>
  );
}

/** The fields of filters, without typed text that set nothing once all filters were replaced. */
export const FilterFields = ({ children }: { children: ReactNode }) => (
  <Fragment key={useStore(replacements)}>{children}</Fragment>
);

export function Chip(props: {
  label: ReactNode;
  removeLabel: string;
  onRemove: () => void;
  icon?: ReactNode;
}) {
  return (
    <span className={classes.chip}>
      {props.icon}
      <bdi className={classes.label}>{props.label}</bdi>
      <button type="button" className={`${classes.remove} screen-only`} onClick={props.onRemove}>
        <IconX size={13} />
        <span className="visually-hidden">{props.removeLabel}</span>
      </button>
    </span>
  );
}
