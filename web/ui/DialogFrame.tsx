import { Drawer, Modal, Text } from '@mantine/core';
import { createContext, use, useEffect, useId, type MouseEvent, type ReactNode } from 'react';
import { useTitlePart } from './document-title.ts';
import { useFocusReturn } from './focus-return.ts';
import { useOpenDialog } from './open-dialogs.ts';
import { loadToasts } from './toast.tsx';

export type DialogFrameProps = {
  title: string;
  /** The subject of the dialog, for the title of the window: `Edit Customer Acme`. */
  subject?: string | undefined;
  /** Shown after the title in the heading. */
  detail?: ReactNode;
  /** Red, for permanent deletion only. */
  danger?: boolean;
  /** The focus starts at the title, not at the first control. */
  focusTitle?: boolean;
  size?: number | undefined;
  /** At the right edge, with the full height of the window. */
  atSide?: boolean;
  /** Not closed by Escape or a click outside (`slips`), or not at all (`all`). */
  held?: 'slips' | 'all' | undefined;
  contentClass?: string | undefined;
  /** Does what a single key means in the dialog; false where it means nothing. */
  onKey?: (key: string) => boolean;
  /** What gets the focus at the end, if not what had it before. */
  returnTo?: () => HTMLElement | undefined;
  onClose: () => void;
  children: ReactNode;
};

const DialogId = createContext('');

/**
 * The text of a dialog that screen readers say after its title. Mantine would have them say the whole content, with all
 * fields and buttons, so that the content has another id.
 */
export function DialogText({ children }: { children: ReactNode }) {
  return (
    <Text component="div" id={`${use(DialogId)}-body`} style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Text>
  );
}

/**
 * The frame of every dialog: its style, Escape, the title of the window, and the focus, which returns to its origin.
 * Features use `Dialog`, which adds the question about unsaved changes.
 */
export function DialogFrame(props: DialogFrameProps) {
  const id = useId();
  const { held, onClose } = props;
  useOpenDialog(() => held || onClose(), props.onKey);
  useFocusReturn(id, props.returnTo);
  // an update may replace the file before there is something to say
  useEffect(loadToasts, []);
  useTitlePart('dialog', [props.title, props.subject].filter(Boolean).join(' '));
  const shared = {
    id,
    opened: true,
    onClose: () => held !== 'all' && onClose(),
    closeOnEscape: false,
    closeOnClickOutside: !held,
    overlayProps: { onClickCapture: ignoreSecondClick },
    returnFocus: false,
    removeScrollProps,
    withCloseButton: held !== 'all',
    title: <Heading {...props} />,
    // its header is no second banner of the page
    attributes: { header: { role: 'presentation' }, body: { id: `${id}-content` } },
    children: <DialogId value={id}>{props.children}</DialogId>,
    ...(props.size && { size: props.size }),
    ...(props.contentClass && { classNames: { content: props.contentClass } }),
  };
  return props.atSide ? <Drawer {...shared} position="right" /> : <Modal {...shared} />;
}

/**
 * What is behind a dialog is scrolled by neither wheel nor touch; the scrollbar of the window stays. Without it, each
 * dialog would set a variable that all elements inherit, and compute the styles of the whole page when it opens and when
 * it closes.
 */
export const removeScrollProps = { removeScrollBar: false };

/** A double click on a button that closes the dialog above ends on the overlay of this one. */
const ignoreSecondClick = (event: MouseEvent): void => {
  if (event.detail > 1) event.stopPropagation();
};

function Heading({ title, detail, danger, focusTitle }: DialogFrameProps) {
  const color = danger ? 'var(--mantine-color-error)' : undefined;
  return (
    <span style={{ color }} {...(focusTitle && { tabIndex: -1, 'data-autofocus': true })}>
      {title}
      {detail}
    </span>
  );
}
