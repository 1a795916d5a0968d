import { Anchor, Button, Group } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { createRef, use } from 'react';
import { isInputOpen } from './open-forms.ts';
import { MayFollow } from './ScreenLink.tsx';
import { createStore, useStore } from './store.ts';

/**
 * What a toast is about: its name, and the path of its page where it has one. `id`: of a record, whose name may change
 * between two toasts, or of several.
 */
export type ToastSubject = { name: string; to?: string | undefined; id?: string };

export type Toast = {
  /** What happened. The name of the subject becomes a link in it; a message without it has the link below. */
  message: string;
  subject: ToastSubject;
  tone?: 'teal' | 'red';
  undo?: () => void;
};

/** Spec part 2, section 9; hover and focus pause the timer. */
export const toastDuration = 3000;

/** Long enough to read what happened, see that it was a mistake, and reach the button; or to read a long message. */
const longDuration = 10_000;

/** A reason, a second sentence or a long one; the name in it is known. */
const isLong = (message: string, name: string) => /[.!?:]\s|.{61}/.test(message.replace(name, ''));

const wanted = createStore(false);

/** Loads what shows toasts. */
export const loadToasts = () => wanted.set(true);

/** True from the first dialog or toast. */
export const useToastsWanted = () => useStore(wanted);

/** The toasts that are open, by their subject. `end`: closes it without its undo. */
const open = new Map<string, { id: string; end: () => void }>();
let count = 0;

/**
 * Shows a toast, with an undo action if there is one. It replaces an older one about the same subject, which is no longer
 * so, and comes before all others. The library loads with the first dialog or toast. Where it cannot, as `MissingParts` says,
 * nothing is shown and nothing fails: what the toast would say was done.
 */
export async function toast({ message, subject, tone = 'teal', undo }: Toast): Promise<void> {
  loadToasts();
  const notifications = await import('@mantine/notifications').then(
    (library) => library.notifications,
    () => undefined,
  );
  if (!notifications) return;
  const hide = () => notifications.hide(id);
  // it stays while it fades, when its undo was done, or would undo something else
  const button = createRef<HTMLButtonElement>();
  let isOver = false;
  const end = () => {
    isOver = true;
    delete button.current?.dataset['hotkey'];
    hide();
  };
  const about = subject.id ?? `${subject.to} ${subject.name}`;
  open.get(about)?.end();
  const id = notifications.show({
    priority: ++count,
    onClose: () => void (open.get(about)?.id === id && open.delete(about)),
    color: tone,
    autoClose: undo || isLong(message, subject.name) ? longDuration : toastDuration,
    withBorder: true,
    role: tone === 'red' ? 'alert' : 'status',
    closeButtonProps: { 'aria-label': 'Dismiss' },
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Sentence message={message} subject={subject} onFollow={hide} />
        {undo && (
          <Button
            variant="subtle"
            size="compact-xs"
            style={{ flexShrink: 0 }}
            data-hotkey="z"
            data-hint="Ctrl Z"
            aria-keyshortcuts="Control+Z"
            ref={button}
            onClick={() => {
              if (isOver) return;
              end();
              undo();
            }}
          >
            Undo
          </Button>
        )}
      </Group>
    ),
  });
  open.set(about, { id, end });
}

/** Closes all without their undo. */
export function endToasts(): void {
  for (const { end } of open.values()) end();
}

/** The message around the name of its subject; undefined if the name is not in it. */
export function around(message: string, name: string): { before: string; after: string } | undefined {
  const at = name === '' ? -1 : message.indexOf(name);
  return at < 0 ? undefined : { before: message.slice(0, at), after: message.slice(at + name.length) };
}

function Sentence(props: Pick<Toast, 'message' | 'subject'> & { onFollow: () => void }) {
  const { message, subject, onFollow } = props;
  const parts = around(message, subject.name);
  const link = <SubjectLink {...subject} onFollow={onFollow} />;
  const broken = { overflowWrap: 'anywhere' } as const;
  if (parts)
    return (
      <span style={broken}>
        {parts.before}
        {link}
        {parts.after}
      </span>
    );
  return (
    <div style={broken}>
      <div>{message}</div>
      {link}
    </div>
  );
}

function SubjectLink({ name, to, onFollow }: ToastSubject & { onFollow: () => void }) {
  const router = useRouter();
  const mayFollow = use(MayFollow);
  if (to === undefined || !mayFollow(to)) return <bdi>{name}</bdi>;
  return (
    <Anchor
      href={to}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onFollow();
        // a dialog in the address of this screen would close, with what was typed
        if (isInputOpen()) window.open(to);
        else router.history.push(to);
      }}
    >
      <bdi>{name}</bdi>
    </Anchor>
  );
}
