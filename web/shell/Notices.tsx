import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CSSProperties, ReactNode } from 'react';
import { paths } from '../paths.ts';
import { setRolePreview } from '../role-preview.ts';
import { useAuth } from '../session.tsx';
import classes from './Notices.module.css';

const noticeHeight = 40;

/** What concerns every screen stands above it: a second factor that is missing, the role one looks as. */
export function Notices({ children }: { children: ReactNode }) {
  const { secondFactorMissing, preview } = useAuth();
  const count = Number(secondFactorMissing) + Number(preview !== null);
  return (
    <div
      className={classes.beside}
      style={{ '--notices-height': `${count * noticeHeight}px` } as CSSProperties}
    >
      {secondFactorMissing && (
        <div role="status" className={classes.notice} data-tone="amber">
          <span>Your role requires a second factor. Nothing is permitted until you have set one up.</span>
          <Link to={paths.account} className={classes.link}>
            Set it up
          </Link>
        </div>
      )}
      {preview && (
        <div role="status" className={classes.notice} data-tone="violet">
          <span>You see the console as {preview.label}. Nothing can be changed.</span>
          <Button variant="default" size="compact-xs" onClick={() => setRolePreview(null)}>
            Exit
          </Button>
        </div>
      )}
      {children}
    </div>
  );
}
