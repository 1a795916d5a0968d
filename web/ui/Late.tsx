import { Button, TextInput, type TextInputProps } from '@mantine/core';
import { Suspense, type ComponentProps, type ReactNode } from 'react';
import { IconSelector } from './icons.tsx';
import { lazyPart } from './lazy-part.ts';

/**
 * What loads at once with a list that is complete without it. Until then `look` keeps its place and cannot be used; so it
 * stays where the file cannot be loaded.
 */
export function Late({ look, children }: { look: ReactNode; children: ReactNode }) {
  const placeholder = (
    <span inert style={{ display: 'contents' }}>
      {look}
    </span>
  );
  return <Suspense fallback={placeholder}>{children}</Suspense>;
}

/** A closed choice, to be the `look` of one. */
export const ClosedSelect = (props: Pick<TextInputProps, 'w' | 'label' | 'placeholder' | 'value'>) => (
  <TextInput
    {...props}
    readOnly
    rightSection={<IconSelector size={14} color="var(--mantine-color-dimmed)" />}
  />
);

const ButtonPopover = lazyPart(async () => ({ default: (await import('./floating.tsx')).ButtonPopover }));

/** A button with an icon that opens a panel. */
export function PopoverButton(
  props: { icon: ReactNode; label: string } & Omit<ComponentProps<typeof ButtonPopover>, 'button'>,
) {
  const { icon, label, ...panel } = props;
  const button = (
    <Button variant="default" px={8} aria-label={label} data-hint={label}>
      {icon}
    </Button>
  );
  return (
    <Late look={button}>
      <ButtonPopover {...panel} button={button} />
    </Late>
  );
}
