import { Group } from '@mantine/core';
import type { ReactNode, Ref } from 'react';
import classes from './Card.module.css';

/** A section of a screen with a title. */
export function Card(props: {
  title: string;
  /** Shown to the right of the title. */
  actions?: ReactNode;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
}) {
  const { title, actions, children, ref } = props;
  return (
    <section className={`panel ${classes.card}`} aria-label={title} ref={ref}>
      <Group justify="space-between" mb={10} mih={28}>
        <h2 className="heading">{title}</h2>
        {actions}
      </Group>
      {children}
    </section>
  );
}
