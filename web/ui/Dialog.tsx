import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import {
  createContext,
  use,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { DialogFrame, DialogText, type DialogFrameProps } from './DialogFrame.tsx';
import { addForm, formsAgain, sentFrom } from './open-forms.ts';

type Check = () => boolean;

type DialogState = {
  /** Asks for confirmation if there are unsaved changes. */
  close: () => void;
  /** The same, for a way out that leads elsewhere. */
  leaveTo: (go: () => void) => void;
  /** The dialog cannot be closed now. */
  isHeld: boolean;
  checks: Set<Check>;
  setSubject: (subject: string | undefined) => void;
};

type DialogProps = DialogFrameProps & { unsaved?: boolean; sendsForm?: boolean };

const DialogContext = createContext<DialogState | null>(null);

/**
 * A dialog. Leaving it with unsaved changes, by Escape, a click outside, a button, or Back, asks for confirmation. Changes
 * are known from `unsaved`, from the forms in it (`useUnsaved`), and from uncontrolled fields. Back out of one that is held
 * asks as well: what it shows is lost. `sendsForm`: it is a question about what the form around it sends, so what is sent
 * by its buttons is sent by that form.
 */
export function Dialog({ unsaved = false, sendsForm = false, ...props }: DialogProps) {
  const [subject, setSubject] = useState<string>();
  const isHeld = props.held !== undefined;
  const around = use(DialogContext);
  const { body, checks, isUnsaved, setAsking, question } = useUnsavedGuard(props.title, unsaved, isHeld, {
    form: sendsForm ? around?.checks : undefined,
  });
  const leaveTo = (go: () => void) => {
    if (props.held === 'all') return;
    if (isUnsaved()) setAsking({ go });
    else go();
  };
  const close = () => leaveTo(props.onClose);
  return (
    <DialogFrame subject={subject} {...props} onClose={close}>
      <DialogContext value={{ close, leaveTo, isHeld: props.held === 'all', checks, setSubject }}>
        <div ref={body}>{props.children}</div>
        {question}
      </DialogContext>
    </DialogFrame>
  );
}

/**
 * A form on a page: leaving the page asks like leaving a dialog. `onClose` navigates to another page. `part` returns the
 * part of the page that the form belongs to, from the search parameters of the URL.
 */
export function PageForm(props: {
  onClose?: () => void;
  part?: (search: object) => string;
  children: ReactNode;
}) {
  const { onClose = () => {}, part = () => '', children } = props;
  const { body, checks, question } = useUnsavedGuard('page', false, false, {
    leaves: ({ current, next }) =>
      current.pathname !== next.pathname || part(current.search) !== part(next.search),
  });
  return (
    <DialogContext value={{ close: onClose, leaveTo, isHeld: false, checks, setSubject: noSubject }}>
      <div ref={body}>{children}</div>
      {question}
    </DialogContext>
  );
}

const noSubject = () => {};
/** The page asks when the URL changes. */
const leaveTo = (go: () => void) => go();

type Way = {
  current: { pathname: string; search: object };
  next: { pathname: string; search: object };
  action: string;
};

// On the same page, a dialog closes itself after its changes were saved or discarded.
const leavesDialog = ({ current, next, action }: Way) =>
  isOfHistory(action) || current.pathname !== next.pathname;

function useUnsavedGuard(
  name: string,
  unsaved: boolean,
  isHeld: boolean,
  { leaves = leavesDialog, form }: { leaves?: typeof leavesDialog; form?: object | undefined },
) {
  const body = useRef<HTMLDivElement>(null);
  const [checks] = useState(() => (formsAgain.of(name) as Set<Check> | undefined) ?? new Set<Check>());
  const isUnsaved = () => unsaved || [...checks].some((check) => check()) || hasTypedFields(body.current);
  const hasInput = () => isHeld || isUnsaved();
  const hasInputNow = useEffectEvent(hasInput);
  const closed = useEffectEvent(() => formsAgain.closed(name, checks));
  const [asking, setAsking] = useState<{ go: () => void }>();
  useLayoutEffect(() => {
    const remove = addForm(form ?? checks, hasInputNow, (go) => setAsking({ go }));
    return () => {
      remove();
      closed();
    };
  }, [checks, form]);
  const [returned, setReturned] = useState<object>();
  const leaving = useBlocker({
    shouldBlockFn: (way) => {
      // Forward after a Back that is still asked about; the router would load the page again
      if (isSamePlace(way)) setReturned(leaving);
      return hasInput() && !isSamePlace(way) && leaves(way);
    },
    enableBeforeUnload: hasInput,
    withResolver: true,
  });
  const { proceed, reset } = leaving === returned ? notLeaving : leaving;
  const answered = (go: (() => void) | undefined) => {
    setAsking(undefined);
    go?.();
  };
  const question = (asking || proceed) && (
    <DiscardQuestion
      form={checks}
      isHeld={isHeld}
      onKeep={() => answered(reset)}
      onDiscard={() => answered(proceed ?? asking?.go)}
    />
  );
  return { body, checks, isUnsaved, setAsking, question };
}

const notLeaving = { proceed: undefined, reset: undefined } as const;

const isSamePlace = ({ current, next, action }: Way) =>
  isOfHistory(action) &&
  current.pathname === next.pathname &&
  JSON.stringify(current.search) === JSON.stringify(next.search);

const isOfHistory = (action: string) => action === 'BACK' || action === 'FORWARD' || action === 'GO';

/** Uncontrolled fields that were changed: React keeps `defaultValue` of controlled ones equal to their value. */
const hasTypedFields = (body: HTMLElement | null): boolean =>
  [...(body?.querySelectorAll<HTMLInputElement>('input[name]') ?? [])].some(
    (field) => field.value !== field.defaultValue,
  );

function DiscardQuestion(props: {
  form: object;
  isHeld: boolean;
  onKeep: () => void;
  onDiscard: () => void;
}) {
  const { onKeep, onDiscard } = props;
  const queryClient = useQueryClient();
  const [isSaving] = useState(() => queryClient.isMutating() > 0);
  const isShown = props.isHeld && !isSaving;
  return (
    <DialogFrame title={isShown ? 'Leave now?' : 'Discard changes?'} onClose={onKeep}>
      <Stack gap="md">
        <DialogText>
          {isShown
            ? 'What is shown here may not be shown again.'
            : isSaving || sentFrom.has(props.form)
              ? 'What you sent may be saved. What you entered since is not.'
              : 'What you entered is not saved.'}
        </DialogText>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDiscard}>
            {isShown ? 'Leave' : 'Discard'}
          </Button>
          <Button onClick={onKeep} data-autofocus>
            {isShown ? 'Stay' : 'Keep Editing'}
          </Button>
        </Group>
      </Stack>
    </DialogFrame>
  );
}

/** Reports unsaved changes to the dialog or page form around the caller. */
export function useUnsaved(check: Check): void {
  const dialog = use(DialogContext);
  if (!dialog) throw new Error('useUnsaved must be used within a Dialog or PageForm');
  const now = useEffectEvent(check);
  const { checks } = dialog;
  useEffect(() => {
    checks.add(now);
    return () => void checks.delete(now);
  }, [checks]);
}

/** A way out of the dialog around the caller that leads elsewhere: asks about unsaved changes, then goes. */
export function useLeaveTo(): (go: () => void) => void {
  const dialog = use(DialogContext);
  if (!dialog) throw new Error('useLeaveTo must be used within a Dialog or PageForm');
  return dialog.leaveTo;
}

/** Sets the subject of the dialog around the caller, for a record that is loaded in it. */
export function useDialogSubject(subject: string): void {
  const setSubject = use(DialogContext)?.setSubject;
  useEffect(() => {
    setSubject?.(subject);
    return () => setSubject?.(undefined);
  }, [setSubject, subject]);
}

/** The cancel action of a form; in a dialog it asks about unsaved changes. */
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
