import { Button, Group, Title } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { use, useState, type MouseEvent, type ReactNode } from 'react';
import { cameFrom, useVisit } from './came-from.ts';
import { headingId } from './heading-id.ts';
import { FilterFields } from './FilterChips.tsx';
import { useDocumentTitle } from './document-title.ts';
import classes from './Page.module.css';
import { MayFollow, ScreenLink } from './ScreenLink.tsx';
import { IconFilter } from './icons.tsx';
import { useIsNarrow } from './use-is-narrow.ts';

type Back = { to: string; label: string };

/** A screen: title, primary button and content. It fills the window, and its table scrolls. */
export function Page(props: {
  title: string;
  /** Shown after the title in the heading, smaller. */
  note?: ReactNode;
  /** Beside the heading: screen readers read buttons in it as part of its name. */
  beside?: ReactNode;
  /** The parent screen, linked above the title for who may see it. */
  back?: Back | undefined;
  /** The screen that the user came from, linked before it. */
  origin?: Back | undefined;
  /** Nobody wants to come back to this screen. */
  isDeadEnd?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useVisit(props.isDeadEnd ? undefined : props.title);
  const mayFollow = use(MayFollow);
  const ways = [props.origin, props.back].flatMap((way) => (way && mayFollow(way.to) ? [way] : []));
  return (
    <div className={classes.page}>
      <title>{useDocumentTitle(props.title)}</title>
      <Group justify="space-between" className={classes.header}>
        <div>
          {ways.length > 0 && (
            <Group gap="md" className={`${classes.back} screen-only`}>
              {ways.map((way) => (
                <BackLink key={way.to} {...way} />
              ))}
            </Group>
          )}
          <div className={classes.title}>
            <Title order={1} id={headingId} className={classes.title}>
              {props.title}
              {props.note && <span className={classes.note}>{props.note}</span>}
            </Title>
            {props.beside && <span className={classes.note}>{props.beside}</span>}
          </div>
        </div>
        {props.actions && (
          <Group gap="xs" className={classes.actions} data-screen-actions>
            {props.actions}
          </Group>
        )}
      </Group>
      {props.children}
    </div>
  );
}

/** Who came from that screen gets it as it was left: filters, page, scrolled to and on the same row. */
function BackLink({ to, label }: Back) {
  const { history } = useRouter();
  const onClick = (event: MouseEvent) => {
    const from = cameFrom();
    const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (from?.path !== to || opensElsewhere) return;
    event.preventDefault();
    history.go(from.steps);
  };
  return (
    <ScreenLink to={to} onClick={onClick}>
      {label}
    </ScreenLink>
  );
}

/** Search and filters on the left, actions for the whole list on the right. Narrow screens collapse the filters. */
export function FilterRow(props: {
  left: ReactNode;
  filters?: ReactNode;
  /** Number of active filters. */
  filtersSet?: number;
  right?: ReactNode;
}) {
  const { left, filtersSet = 0, right } = props;
  const isNarrow = useIsNarrow();
  const [unfolded, setUnfolded] = useState(false);
  const folds = isNarrow && Boolean(props.filters);
  const filters = <FilterFields>{props.filters}</FilterFields>;
  return (
    <Group gap="xs" className={classes.header}>
      <div className={classes.left}>
        {left}
        {!folds && filters}
      </div>
      {(right || folds) && (
        <Group gap="xs" className={classes.right}>
          {folds && (
            <Button
              variant="default"
              leftSection={<IconFilter />}
              aria-expanded={unfolded}
              onClick={() => setUnfolded(!unfolded)}
            >
              Filters{filtersSet > 0 && ` (${filtersSet})`}
            </Button>
          )}
          {right}
        </Group>
      )}
      {folds && unfolded && <Group gap="xs">{filters}</Group>}
    </Group>
  );
}
