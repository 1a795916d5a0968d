import { Group, Kbd, Stack, Switch, Table } from '@mantine/core';
import { Dialog } from '../ui/Dialog.tsx';
import { navigation } from './navigation.ts';
import { useShortcutsEnabled } from './shortcuts.ts';

const keys: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['Ctrl', 'K'], 'Search everywhere, or run a command'],
  [['/'], 'Search in this list'],
  [['c'], 'Create'],
  ...navigation.map((item) => [['g', item.key], `Go to ${item.label}`] as const),
  [['?'], 'This help'],
];

/** Lists the keyboard shortcuts, with a switch for the single-key ones. */
export default function HelpDialog({ onClose }: { onClose: () => void }) {
  const [enabled, setEnabled] = useShortcutsEnabled();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Stack>
        <Table verticalSpacing={6} horizontalSpacing={0}>
          <Table.Tbody>
            {keys.map(([combination, meaning]) => (
              <Table.Tr key={meaning}>
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
        <Switch
          label="Single-key shortcuts"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Stack>
    </Dialog>
  );
}
