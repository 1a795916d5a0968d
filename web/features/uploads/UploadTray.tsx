import { ActionIcon, Button } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { useAuth } from '../../session.tsx';
import { IconChevronDown, IconUpload } from '../../ui/icons.tsx';
import { useIsDialogOpen } from '../../ui/open-dialogs.ts';
import type { Upload } from './upload-list.ts';
import { uploadList, useUploads } from './upload-session.ts';
import { percentOf, stateText } from './upload-labels.ts';
import { UploadRow } from './UploadRow.tsx';
import classes from './uploads.module.css';

/** All uploads of this user, at the bottom right of every screen. */
export default function UploadTray() {
  const uploads = inOrder(useUploads());
  const over = uploads.filter(isOver);
  const tray = useRef<HTMLElement>(null);
  useLeaving(over, tray);
  const [folded, setFolded] = useState(false);
  // the next upload is shown
  if (folded && uploads.length === 0) setFolded(false);
  /** The button that takes the place of the pressed one gets its focus. */
  const fold = (isFolded: boolean) => {
    flushSync(() => setFolded(isFolded));
    tray.current?.querySelector<HTMLElement>('[aria-expanded]')?.focus();
  };
  useMakingWay(tray, () => setFolded(true));
  const user = useAuth().user?.userId;
  useEffect(() => {
    if (user) void uploadList.restore(user);
  }, [user]);
  return (
    <>
      <div className="visually-hidden" aria-live="polite">
        {uploads.map((upload) => (
          <p key={upload.id}>{spoken(upload)}</p>
        ))}
      </div>
      {uploads.length > 0 &&
        (folded ? (
          <section aria-label="Uploads" className={classes.folded} ref={tray}>
            <Button
              size="compact-xs"
              variant="light"
              leftSection={<IconUpload size={13} stroke={2} />}
              aria-expanded={false}
              onClick={() => fold(false)}
            >
              {summary(uploads)}
            </Button>
          </section>
        ) : (
          <section aria-label="Uploads" className={classes.tray} ref={tray}>
            <header className={classes.head} role="none">
              <h2 className="heading">{summary(uploads)}</h2>
              {over.length > 1 && (
                <Button
                  variant="subtle"
                  size="compact-xs"
                  onClick={() => over.forEach(({ id }) => uploadList.dismiss(id))}
                >
                  Clear Finished
                </Button>
              )}
              <ActionIcon
                variant="subtle"
                color="gray"
                size={24}
                aria-label="Fold uploads"
                aria-expanded
                onClick={() => fold(true)}
              >
                <IconChevronDown stroke={2} />
              </ActionIcon>
            </header>
            <ul className={`plain-list ${classes.rows}`}>
              {uploads.map((upload) => (
                <li key={upload.id}>
                  <UploadRow upload={upload} />
                </li>
              ))}
            </ul>
          </section>
        ))}
    </>
  );
}

/**
 * How long a finished upload stays, in milliseconds; longer while the user points at the tray or has the focus in it, and
 * while a dialog covers it, which may show the same upload.
 */
const leavesAfter = 15_000;

function useLeaving(over: readonly Upload[], tray: RefObject<HTMLElement | null>): void {
  const ids = over.map(({ id }) => id).join(' ');
  const isCovered = useIsDialogOpen();
  useEffect(() => {
    if (!ids || isCovered) return;
    const timer = setInterval(() => {
      if (tray.current?.matches(':hover, :focus-within')) return;
      for (const id of ids.split(' ')) uploadList.dismiss(id);
    }, leavesAfter);
    return () => clearInterval(timer);
  }, [ids, isCovered, tray]);
}

/** What gets the focus is not left behind the tray (WCAG 2.4.11). */
function useMakingWay(tray: RefObject<HTMLElement | null>, fold: () => void): void {
  const onFocus = useEffectEvent(() => {
    const focused = document.activeElement;
    if (!focused || !tray.current || tray.current.contains(focused)) return;
    const { left, right, top, bottom } = focused.getBoundingClientRect();
    const over = tray.current.getBoundingClientRect();
    const isInside = left >= over.left && right <= over.right && top >= over.top && bottom <= over.bottom;
    // an open menu is in front of it
    const inFront = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (isInside && tray.current.contains(inFront)) fold();
  });
  useEffect(() => {
    // once it was scrolled to
    const afterScroll = () => requestAnimationFrame(() => onFocus());
    document.addEventListener('focusin', afterScroll);
    return () => document.removeEventListener('focusin', afterScroll);
  }, []);
}

const isOver = ({ status }: Upload): boolean => status === 'done' || status === 'cancelled';

/** Uploads in progress above finished ones, the newest of each first. */
const inOrder = (uploads: readonly Upload[]): Upload[] =>
  uploads.toReversed().toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)));

/** Announced on state changes, not on progress. */
const spoken = (upload: Upload): string =>
  [`${upload.fileName}: ${stateText(upload)}`, upload.message, upload.note].filter(Boolean).join('. ');

function summary(uploads: readonly Upload[]): string {
  const active = uploads.filter(({ status }) => status === 'running' || status === 'pausing');
  const [first, ...others] = active.length > 0 ? active : uploads;
  const shown = first && others.length === 0 ? stateText(first) : `${others.length + 1} uploads`;
  if (active.length === 0) return shown;
  const size = active.reduce((sum, { fileSize }) => sum + fileSize, 0);
  const done = active.reduce((sum, upload) => sum + (percentOf(upload) / 100) * upload.fileSize, 0);
  const percent = `${Math.floor((100 * done) / size)}%`;
  return `${shown} · ${percent}`;
}
