import { Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Page.module.css';

/** A screen: its title, its one primary button, and what follows; fills the window and lets its table scroll. */
export function Page(props: {
  title: string;
  /** Stands in the heading after the title, smaller. */
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={classes.page}>
      <title>{`${props.title} · Lanyard`}</title>
      <Group justify="space-between" className={classes.header}>
        <Title order={1} className={classes.title!}>
          {props.title}
          {props.note && <span className={classes.note}>{props.note}</span>}
        </Title>
        {props.actions && <Group gap="xs">{props.actions}</Group>}
      </Group>
      {props.children}
    </div>
  );
}

/** Search on the left, what concerns the whole list on the right. */
export function FilterRow({ left, right }: { left: ReactNode; right?: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs" className={classes.header}>
      <Group gap="xs">{left}</Group>
      {right && <Group gap="xs">{right}</Group>}
    </Group>
  );
}
