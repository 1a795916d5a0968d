import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './ListButtons.module.css';
import { IconDownload, IconFileImport, IconPlus } from './icons.tsx';

/** The primary button of a screen; `c` clicks it. */
export function CreateButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button data-hotkey="c" leftSection={<IconPlus />} onClick={onClick}>
      {children}
    </Button>
  );
}

export function ImportButton({ onClick }: { onClick: () => void }) {
  return (
    <Button variant="default" leftSection={<IconFileImport />} onClick={onClick}>
      Import CSV
    </Button>
  );
}

/** A button that downloads a file. */
export function DownloadLink(props: { href: string; className?: string | undefined; children: ReactNode }) {
  return <Button component="a" download variant="default" leftSection={<IconDownload />} {...props} />;
}

export const ExportLink = ({ href }: { href: string }) => (
  <DownloadLink href={href} className={classes.export}>
    Export CSV
  </DownloadLink>
);
