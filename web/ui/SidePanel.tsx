import { Group, Stack, Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { Dialog } from './Dialog.tsx';
import { RowButton } from './RowButton.tsx';
import { ScreenLink } from './ScreenLink.tsx';
import { IconChevronDown, IconChevronUp } from './icons.tsx';
import { rowWithId, stepFrom } from './row-focus.ts';

/**
 * A record of a list, beside the list: j and k, or the buttons, go to the next and the previous row. Closed, it returns the
 * focus to the row that was shown last.
 */
export default function SidePanel(props: {
  title: string;
  /** Name of the record. */
  name?: string | undefined;
  /** Path of its page. */
  to?: string | undefined;
  /** Ids of the rows, in the order of the list. */
  ids: readonly string[];
  /** Id of the row that is shown. */
  id: string;
  onMove: (id: string) => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { title, name, to, ids, id, onMove } = props;
  const [first] = useState(id);
  const at = ids.indexOf(id);
  const place = at < 0 ? '' : `${at + 1} of ${ids.length}`;
  const before = ids[stepFrom(at, -1, ids.length) ?? -1];
  const after = ids[stepFrom(at, 1, ids.length) ?? -1];
  useEffect(() => {
    rowWithId(id)?.scrollIntoView({ block: 'nearest' });
  }, [id]);
  const press = (key: string): boolean => {
    if (key !== 'j' && key !== 'k') return false;
    const next = key === 'j' ? after : before;
    if (next !== undefined) onMove(next);
    return true;
  };
  return (
    <Dialog
      atSide
      focusTitle
      size={620}
      title={title}
      subject={name}
      onClose={props.onClose}
      onKey={press}
      returnTo={() => (id === first ? undefined : rowWithId(id))}
    >
      <Stack gap="lg">
        <Group justify="space-between" wrap="nowrap" gap="md">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Group gap={6} wrap="nowrap">
            {to && (
              <ScreenLink to={to} style={{ whiteSpace: 'nowrap' }} mr="xs">
                Open page
              </ScreenLink>
            )}
            <Text c="dimmed" size="xs" aria-hidden style={{ whiteSpace: 'nowrap' }}>
              {place}
            </Text>
            {/* in one text: the space between two would not be said */}
            <span className="visually-hidden" aria-live="polite">{`${name ?? ''} ${place}`}</span>
            <Step label="Previous" shortcut="k" to={before} onMove={onMove} />
            <Step label="Next" shortcut="j" to={after} onMove={onMove} />
          </Group>
        </Group>
        {props.children}
      </Stack>
    </Dialog>
  );
}

/** Not `disabled` at the ends of the list: the button would lose the focus. */
function Step(props: {
  label: 'Previous' | 'Next';
  shortcut: string;
  to: string | undefined;
  onMove: (id: string) => void;
}) {
  const { label, shortcut, to, onMove } = props;
  const Icon = label === 'Next' ? IconChevronDown : IconChevronUp;
  return (
    <RowButton
      icon
      tone="gray"
      aria-label={label}
      aria-keyshortcuts={shortcut}
      aria-disabled={to === undefined}
      data-disabled={to === undefined || undefined}
      data-hint={`${label} (${shortcut})`}
      onClick={() => to !== undefined && onMove(to)}
    >
      <Icon size={16} stroke={1.6} />
    </RowButton>
  );
}
