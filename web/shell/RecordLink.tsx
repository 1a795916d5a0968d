import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Resource } from '../../contract/permissions.ts';
import { customerPath, licensePath, machinePath, paths, releasePath } from '../paths.ts';
import { useAuth } from '../session.tsx';
import { CopyText } from '../ui/CopyText.tsx';

type Place = { to: string; search?: Record<string, string> };

const records = {
  api_key: { placeOf: (id) => ({ to: paths.apiKeys, search: { key: id } }), resource: 'api_keys' },
  customer: { placeOf: (id) => ({ to: customerPath(id) }), resource: 'customers' },
  license: { placeOf: (id) => ({ to: licensePath(id) }), resource: 'licenses' },
  machine: { placeOf: (id) => ({ to: machinePath(id) }), resource: 'releases' },
  release: { placeOf: (id) => ({ to: releasePath(id) }), resource: 'releases' },
} satisfies Record<string, { placeOf: (id: string) => Place; resource: Resource }>;

/** The records that have a page, or a dialog with a path of its own. */
export type RecordKind = keyof typeof records;

/** The name of a record, linked to its page for users who may read it. */
export function RecordLink(
  props: AnchorProps & { kind: RecordKind; id: string; title?: string; children: ReactNode },
) {
  const { kind, id, children, ...look } = props;
  const { hasPermission } = useAuth();
  const { placeOf, resource } = records[kind];
  if (!hasPermission(resource, 'read')) return <span className={look.className}>{children}</span>;
  return (
    // within a text, color alone would not tell the link apart
    <Anchor
      component={Link}
      {...(placeOf(id) as object)}
      underline={look.inherit ? 'always' : 'hover'}
      {...look}
    >
      {children}
    </Anchor>
  );
}

type Keyed = { licenseId: string; licenseKey: string };

/** A license by its key. */
export const LicenseLink = ({ licenseId, licenseKey }: Keyed) => (
  <RecordLink kind="license" id={licenseId} className="mono">
    {licenseKey}
  </RecordLink>
);

/** A license by its key, which is copied beside it. */
export const CopiedLicense = ({ licenseId, licenseKey }: Keyed) => (
  <CopyText value={licenseKey} what="license key">
    <RecordLink kind="license" id={licenseId}>
      {licenseKey}
    </RecordLink>
  </CopyText>
);

/** A machine by its display id. */
export const MachineLink = ({ displayId, ...look }: AnchorProps & { displayId: string }) => (
  <RecordLink kind="machine" id={displayId} {...look}>
    <span className="mono">{displayId}</span>
  </RecordLink>
);
