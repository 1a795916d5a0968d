import { Button, Group } from '@mantine/core';
import { createStore, useStore } from './store.ts';

export type Toast = { message: string; tone?: 'teal' | 'red'; undo?: () => void };

/** Spec part 2, section 9; hover and focus pause the timer. */
export const toastDuration = 3000;

const wanted = createStore(false);

/** True after the first toast. */
export const useToastsWanted = () => useStore(wanted);

/** Shows a toast, with an undo action if there is one. The library loads with the first toast. */
export async function toast({ message, tone = 'teal', undo }: Toast): Promise<void> {
  wanted.set(true);
  const { notifications } = await import('@mantine/notifications');
  const id = notifications.show({
    color: tone,
    autoClose: toastDuration,
    withBorder: true,
    role: tone === 'red' ? 'alert' : 'status',
    closeButtonProps: { 'aria-label': 'Dismiss' },
    message: undo ? (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <span>{message}</span>
        <Button
          variant="subtle"
          size="compact-xs"
          style={{ flexShrink: 0 }}
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ) : (
      message
    ),
  });
}
