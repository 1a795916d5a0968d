import { Button } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useEffect, useState, type CSSProperties, type ReactNode } from 'react';
import { paths } from '../paths.ts';
import { setRolePreview } from '../role-preview.ts';
import { useAuth } from '../session.tsx';
import { useStore } from '../ui/store.ts';
import { toast } from '../ui/toast.tsx';
import { AdviceNotice } from './AdviceNotice.tsx';
import { Notice, noticeCount } from './Notice.tsx';
import classes from './Notices.module.css';

/**
 * The notices above every screen: the previewed role, notices of features, advice for the account. Only the first is shown
 * until the others are asked for: a list needs the space. The others are announced as well.
 */
export function Notices({ ofFeatures, children }: { ofFeatures: ReactNode; children: ReactNode }) {
  const { secondFactorMissing, ownPasswordMissing, preview } = useAuth();
  const { ref, height } = useElementSize();
  const others = useStore(noticeCount) - 1;
  const [isUnfolded, setUnfolded] = useState(false);
  useFilesRefused(preview?.label);
  return (
    <div className={classes.beside} style={{ '--notices-height': `${height}px` } as CSSProperties}>
      <div
        ref={ref}
        className={`${classes.notices} screen-only`}
        data-several={others > 0 || undefined}
        data-unfolded={isUnfolded || undefined}
      >
        {ownPasswordMissing && (
          <Notice tone="amber" action={<Link to={paths.account}>Change it</Link>}>
            Somebody else set your password. Nothing is permitted until you have changed it.
          </Notice>
        )}
        {secondFactorMissing && (
          <Notice tone="amber" action={<Link to={paths.account}>Set it up</Link>}>
            Your role requires a second factor. Nothing is permitted until you have set one up.
          </Notice>
        )}
        {preview && (
          <Notice
            tone="violet"
            action={
              <Button variant="default" size="compact-xs" onClick={() => setRolePreview(null)}>
                Exit
              </Button>
            }
          >
            You see the console as {preview.label}. Nothing can be changed.
          </Notice>
        )}
        {ofFeatures}
        <AdviceNotice />
        {others > 0 && (
          <Button
            className={classes.more}
            variant="default"
            size="compact-xs"
            aria-expanded={isUnfolded}
            onClick={() => setUnfolded(!isUnfolded)}
          >
            {isUnfolded ? 'Show One Notice' : `and ${others} more`}
          </Button>
        )}
      </div>
      {children}
    </div>
  );
}

/** The server writes a file for the user, not for the role that is previewed, whether the browser or a button fetches it. */
function useFilesRefused(previewed: string | undefined): void {
  useEffect(() => {
    if (previewed === undefined) return;
    const refuse = (event: MouseEvent) => {
      // nothing is followed by the right button
      if (event.button > 1) return;
      if (!(
        event.target instanceof Element &&
        event.target.closest('a[download][href^="/api/"], [data-fetches-file]')
      ))
        return;
      event.preventDefault();
      event.stopPropagation();
      const message = `You see the console as ${previewed}. Files are those of your own role: choose Exit first.`;
      void toast({ message, subject: { name: previewed }, tone: 'red' });
    };
    // the second one by the middle button
    for (const type of ['click', 'auxclick'] as const) document.addEventListener(type, refuse, true);
    return () => {
      for (const type of ['click', 'auxclick'] as const) document.removeEventListener(type, refuse, true);
    };
  }, [previewed]);
}
