import type { AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { customerPath, licensePath, machinePath, paths, releasePath } from '../paths.ts';
import { CopyText } from '../ui/CopyText.tsx';
import { ScreenLink } from '../ui/ScreenLink.tsx';

type Place = { to: string; search?: Record<string, string> };

const places = {
  api_key: (id) => ({ to: paths.apiKeys, search: { key: id } }),
  audit_entry: (id) => ({ to: paths.audit, search: { entry: id } }),
  customer: (id) => ({ to: customerPath(id) }),
  license: (id) => ({ to: licensePath(id) }),
  machine: (id) => ({ to: machinePath(id) }),
  release: (id) => ({ to: releasePath(id) }),
  user: (email) => ({ to: paths.users, search: { search: email } }),
} satisfies Record<string, (id: string) => Place>;

/** The records that have a page, or a dialog or row of a list with a path of its own. */
export type RecordKind = keyof typeof places;

/** The name of a record, linked to its page for users who may read it. */
export function RecordLink(
  props: AnchorProps & { kind: RecordKind; id: string; title?: string | undefined; children: ReactNode },
) {
  const { kind, id, ...look } = props;
  return (
    <ScreenLink
      {...places[kind](id)}
      // within a text, color alone would not tell the link apart
      underline={look.inherit ? 'always' : 'hover'}
      instead={<span className={look.className}>{look.children}</span>}
      {...look}
    />
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
