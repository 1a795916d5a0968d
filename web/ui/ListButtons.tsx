import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './ListButtons.module.css';
import { IconDownload, IconFileImport, IconPlus } from './icons.tsx';

/** The primary button of a screen; `c` clicks it. */
export function CreateButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button data-hotkey="c" leftSection={<IconPlus size={15} stroke={1.75} />} onClick={onClick}>
      {children}
    </Button>
  );
}

export function ImportButton({ onClick }: { onClick: () => void }) {
  return (
    <Button variant="default" leftSection={<IconFileImport size={15} stroke={1.75} />} onClick={onClick}>
      Import CSV
    </Button>
  );
}

export function ExportLink({ href }: { href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      className={classes.export}
      leftSection={<IconDownload size={15} stroke={1.75} />}
    >
      Export CSV
    </Button>
  );
}
