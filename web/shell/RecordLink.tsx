import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Resource } from '../../contract/permissions.ts';
import { customerPath, licensePath, machinePath, releasePath } from '../paths.ts';
import { useAuth } from '../session.tsx';

const records = {
  customer: { pathOf: customerPath, resource: 'customers' },
  license: { pathOf: licensePath, resource: 'licenses' },
  machine: { pathOf: machinePath, resource: 'releases' },
  release: { pathOf: releasePath, resource: 'releases' },
} satisfies Record<string, { pathOf: (id: string) => string; resource: Resource }>;

/** The records that have a page. */
export type RecordKind = keyof typeof records;

/** The name of a record, linked to its page for users who may read it. */
export function RecordLink(
  props: AnchorProps & { kind: RecordKind; id: string; title?: string; children: ReactNode },
) {
  const { kind, id, children, ...look } = props;
  const { hasPermission } = useAuth();
  const { pathOf, resource } = records[kind];
  if (!hasPermission(resource, 'read')) return <span className={look.className}>{children}</span>;
  return (
    // within a text, color alone would not tell the link apart
    <Anchor component={Link} to={pathOf(id)} underline={look.inherit ? 'always' : 'hover'} {...look}>
      {children}
    </Anchor>
  );
}

/** A machine by its display id. */
export const MachineLink = ({ displayId, ...look }: AnchorProps & { displayId: string }) => (
  <RecordLink kind="machine" id={displayId} {...look}>
    <span className="mono">{displayId}</span>
  </RecordLink>
);
