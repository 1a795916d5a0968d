import { Anchor, Button, Group, Title } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useDocumentTitle } from './document-title.ts';
import classes from './Page.module.css';
import { IconFilter } from './icons.tsx';
import { useIsNarrow } from './use-is-narrow.ts';

/** A screen: title, primary button and content. It fills the window, and its table scrolls. */
export function Page(props: {
  title: string;
  /** Shown after the title in the heading, smaller. */
  note?: ReactNode;
  /** Beside the heading: screen readers read buttons in it as part of its name. */
  beside?: ReactNode;
  /** The parent screen, linked above the title. */
  back?: { to: NonNullable<LinkProps['to']>; label: string };
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={classes.page}>
      <title>{useDocumentTitle(props.title)}</title>
      <Group justify="space-between" className={classes.header}>
        <div>
          {props.back && (
            <div className={`${classes.back} screen-only`}>
              <Anchor component={Link} to={props.back.to}>
                {props.back.label}
              </Anchor>
            </div>
          )}
          <div className={classes.title}>
            <Title order={1} className={classes.title}>
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

/** Search and filters on the left, actions for the whole list on the right. Narrow screens collapse the filters. */
export function FilterRow(props: {
  left: ReactNode;
  filters?: ReactNode;
  /** Number of active filters. */
  filtersSet?: number;
  right?: ReactNode;
}) {
  const { left, filters, filtersSet = 0, right } = props;
  const isNarrow = useIsNarrow();
  const [unfolded, setUnfolded] = useState(false);
  const folds = isNarrow && Boolean(filters);
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
