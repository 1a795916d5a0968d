import { Group, Kbd, Stack, Switch, Table, Title } from '@mantine/core';
import { useState } from 'react';
import { useAuth } from '../session.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { listHelp } from '../ui/key-lists.ts';
import type { KeyHelp } from '../ui/row-actions.ts';
import { reachable } from './navigation.ts';
import { controlKey, useShortcutsEnabled } from './shortcuts.ts';

type Section = { label: string; keys: KeyHelp[] };

/** The keys of the screen below, and those that work on every screen, with a switch for the single-key ones. */
export default function HelpDialog({ onClose }: { onClose: () => void }) {
  const [enabled, setEnabled] = useShortcutsEnabled();
  const { permissions } = useAuth();
  // as it was when the help opened: the rows below may be loaded again
  const [ofScreen] = useState(screenHelp);
  const everywhere: KeyHelp[] = [
    { keys: [controlKey, 'K'], meaning: 'Search everywhere, or run a command' },
    { keys: [controlKey, 'Z'], meaning: 'Undo (latest message)' },
    ...reachable(permissions).map((item) => ({ keys: ['g', item.key], meaning: `Go to ${item.label}` })),
    { keys: [controlKey, 'P'], meaning: 'Print (lists on the page of a record in full)' },
    { keys: ['?'], meaning: 'This help' },
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Stack>
        {[...ofScreen, { label: 'Everywhere', keys: everywhere }].map((section) => (
          <Keys key={section.label} {...section} />
        ))}
        <Switch
          label="Single-key shortcuts"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Stack>
    </Dialog>
  );
}

/** Only what the screen has: its search field, its create button, and its lists. */
function screenHelp(): Section[] {
  const has = (key: string) => document.querySelector(`[data-hotkey="${key}"]`) !== null;
  const ofScreen = [
    ...(has('/') ? [{ keys: ['/'], meaning: 'Search in this list' }] : []),
    ...(has('c') ? [{ keys: ['c'], meaning: 'Create' }] : []),
  ];
  return [{ label: 'This screen', keys: ofScreen }, ...listHelp()].filter(({ keys }) => keys.length > 0);
}

function Keys({ label, keys }: Section) {
  return (
    <section aria-label={`${label}, keys`}>
      <Title order={3} fz={12} fw={500} c="dimmed">
        {label}
      </Title>
      <Table verticalSpacing={6} horizontalSpacing={0}>
        <Table.Tbody>
          {keys.map(({ keys: combination, meaning }) => (
            <Table.Tr key={`${combination.join()} ${meaning}`}>
              <Table.Td>{meaning}</Table.Td>
              <Table.Td>
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  {combination.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
