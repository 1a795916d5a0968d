import { Button } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { CSSProperties, ReactNode } from 'react';
import { paths } from '../paths.ts';
import { setRolePreview } from '../role-preview.ts';
import { useAuth } from '../session.tsx';
import { AdviceNotice } from './AdviceNotice.tsx';
import { Notice } from './Notice.tsx';
import classes from './Notices.module.css';

/** The notices above every screen: advice for the account, the previewed role, notices of features. */
export function Notices({ ofFeatures, children }: { ofFeatures: ReactNode; children: ReactNode }) {
  const { secondFactorMissing, ownPasswordMissing, preview } = useAuth();
  const { ref, height } = useElementSize();
  return (
    <div className={classes.beside} style={{ '--notices-height': `${height}px` } as CSSProperties}>
      <div ref={ref} className="screen-only">
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
        <AdviceNotice />
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
      </div>
      {children}
    </div>
  );
}
