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
  audit_entry: { placeOf: (id) => ({ to: paths.audit, search: { entry: id } }), resource: 'audit' },
  customer: { placeOf: (id) => ({ to: customerPath(id) }), resource: 'customers' },
  license: { placeOf: (id) => ({ to: licensePath(id) }), resource: 'licenses' },
  machine: { placeOf: (id) => ({ to: machinePath(id) }), resource: 'releases' },
  release: { placeOf: (id) => ({ to: releasePath(id) }), resource: 'releases' },
  user: { placeOf: (email) => ({ to: paths.users, search: { search: email } }), resource: 'users' },
} satisfies Record<string, { placeOf: (id: string) => Place; resource: Resource }>;

/** The records that have a page, or a dialog or row of a list with a path of its own. */
export type RecordKind = keyof typeof records;

/** The name of a record, linked to its page for users who may read it. */
export function RecordLink(
  props: AnchorProps & { kind: RecordKind; id: string; title?: string | undefined; children: ReactNode },
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
export const LicenseLink = ({ licenseId, licenseKey, inherit = false }: Keyed & { inherit?: boolean }) => (
  <RecordLink kind="license" id={licenseId} className="mono" inherit={inherit}>
    {licenseKey}
  </RecordLink>
);

/** A license by its key, which is copied beside it, also before its id is known. */
export const CopiedLicense = ({ licenseId, licenseKey }: Partial<Keyed> & { licenseKey: string }) => (
  <CopyText value={licenseKey} what="license key">
    {licenseId ? (
      <RecordLink kind="license" id={licenseId}>
        {licenseKey}
      </RecordLink>
    ) : (
      licenseKey
    )}
  </CopyText>
);

/** A machine by its display id. */
export const MachineLink = ({ displayId, ...look }: AnchorProps & { displayId: string }) => (
  <RecordLink kind="machine" id={displayId} {...look}>
    <span className="mono">{displayId}</span>
  </RecordLink>
);

/** What a machine runs, linked to the release where there is one. */
export const VersionLink = ({
  version,
  releaseId,
}: {
  version: string | null | undefined;
  releaseId: string | null | undefined;
}) =>
  version && releaseId ? (
    <RecordLink kind="release" id={releaseId}>
      {version}
    </RecordLink>
  ) : (
    (version ?? 'Unknown')
  );

/** Who did something, as the audit log says it: a user, an API key, or a word. */
export const UserLink = ({ by, ...look }: AnchorProps & { by: string }) =>
  /^\S+@\S+$/.test(by) ? (
    <RecordLink kind="user" id={by} {...look}>
      {by}
    </RecordLink>
  ) : (
    by
  );
