import { Button, Group, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { createContext, use, useEffect, useRef, useState, type ReactNode } from 'react';
import { DialogFrame, type DialogFrameProps } from './DialogFrame.tsx';

type Check = () => boolean;

type DialogState = {
  /** Asks first when something was typed. */
  close: () => void;
  /** It cannot be closed at present. */
  isHeld: boolean;
  checks: Set<Check>;
  setSubject: (subject: string | undefined) => void;
};

const DialogContext = createContext<DialogState | null>(null);

/**
 * A dialog. However a person leaves it, by Escape, a click outside, a button, or Back, they are asked when something
 * was typed. What was typed is known from `unsaved`, from the forms in it (`useUnsaved`), and from fields that the
 * form reads only when it is sent.
 */
export function Dialog({ unsaved = false, ...props }: DialogFrameProps & { unsaved?: boolean }) {
  const [subject, setSubject] = useState<string>();
  const [asking, setAsking] = useState(false);
  const { body, checks, isUnsaved, leaving } = useUnsavedGuard(unsaved);
  const close = () => {
    if (props.held === 'all') return;
    if (isUnsaved()) setAsking(true);
    else props.onClose();
  };
  const keep = () => {
    setAsking(false);
    leaving.reset?.();
  };
  const discard = () => {
    setAsking(false);
    if (leaving.proceed) leaving.proceed();
    else props.onClose();
  };
  return (
    <DialogFrame subject={subject} {...props} onClose={close}>
      <DialogContext value={{ close, isHeld: props.held === 'all', checks, setSubject }}>
        <div ref={body}>{props.children}</div>
        {(asking || leaving.status === 'blocked') && <DiscardQuestion onKeep={keep} onDiscard={discard} />}
      </DialogContext>
    </DialogFrame>
  );
}

/**
 * A form on a page: leaving the page asks as leaving a dialog does. `onClose` leads to another page. `part`: what of
 * the page the form belongs to, by the search of the address.
 */
export function PageForm(props: {
  onClose?: () => void;
  part?: (search: object) => string;
  children: ReactNode;
}) {
  const { onClose = () => {}, part = () => '', children } = props;
  const { body, checks, leaving } = useUnsavedGuard(
    false,
    ({ current, next }) => current.pathname !== next.pathname || part(current.search) !== part(next.search),
  );
  return (
    <DialogContext value={{ close: onClose, isHeld: false, checks, setSubject: noSubject }}>
      <div ref={body}>{children}</div>
      {leaving.status === 'blocked' && <DiscardQuestion onKeep={leaving.reset} onDiscard={leaving.proceed} />}
    </DialogContext>
  );
}

const noSubject = () => {};

type Way = {
  current: { pathname: string; search: object };
  next: { pathname: string; search: object };
  action: string;
};

// On the same page a dialog closes itself, which is the rest of a change that was saved or given up.
const leavesDialog = ({ current, next, action }: Way) =>
  isOfHistory(action) || current.pathname !== next.pathname;

function useUnsavedGuard(unsaved: boolean, leaves = leavesDialog) {
  const body = useRef<HTMLDivElement>(null);
  const [checks] = useState(() => new Set<Check>());
  const isUnsaved = () => unsaved || [...checks].some((check) => check()) || hasTypedFields(body.current);
  const leaving = useBlocker({
    shouldBlockFn: (way) => isUnsaved() && leaves(way),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  return { body, checks, isUnsaved, leaving };
}

const isOfHistory = (action: string) => action === 'BACK' || action === 'FORWARD' || action === 'GO';

/** Fields that React does not hold: it keeps `defaultValue` of the others the same as their value. */
const hasTypedFields = (body: HTMLElement | null): boolean =>
  [...(body?.querySelectorAll<HTMLInputElement>('input[name]') ?? [])].some(
    (field) => field.value !== field.defaultValue,
  );

function DiscardQuestion({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  return (
    <DialogFrame title="Discard changes?" onClose={onKeep}>
      <Stack gap="md">
        <Text>What you entered is not saved.</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDiscard}>
            Discard
          </Button>
          <Button onClick={onKeep} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Stack>
    </DialogFrame>
  );
}

/** Tells the dialog or page form around the caller whether something was typed. */
export function useUnsaved(check: Check): void {
  const dialog = use(DialogContext);
  if (!dialog) throw new Error('useUnsaved must be used within a Dialog or PageForm');
  const latest = useRef(check);
  useEffect(() => {
    latest.current = check;
  });
  const { checks } = dialog;
  useEffect(() => {
    const now = () => latest.current();
    checks.add(now);
    return () => void checks.delete(now);
  }, [checks]);
}

/** Names what the dialog around the caller is about, for a record that is loaded in it. */
export function useDialogSubject(subject: string): void {
  const setSubject = use(DialogContext)?.setSubject;
  useEffect(() => {
    setSubject?.(subject);
    return () => setSubject?.(undefined);
  }, [setSubject, subject]);
}

/** The way out of a form. In a dialog it asks as every other way out does. */
export function CancelButton(props: { onCancel: () => void; label?: string; focused?: boolean }) {
  const dialog = use(DialogContext);
  return (
    <Button
      variant="default"
      disabled={dialog?.isHeld ?? false}
      onClick={dialog?.close ?? props.onCancel}
      data-autofocus={props.focused || undefined}
    >
      {props.label ?? 'Cancel'}
    </Button>
  );
}
