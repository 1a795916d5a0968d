import { Anchor } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';

/** The way from a record to all changes made to it; nothing for those who may not read the audit log. */
export function RecordHistoryLink(props: { resourceType: string; resourceId: string }) {
  const { can } = useAuth();
  if (!can.viewAudit) return null;
  return (
    <Anchor
      // as a function, or the type of the search is lost on the way through Anchor
      renderRoot={(root) => <Link {...root} to={paths.audit} search={props} />}
      style={{ display: 'inline-flex', alignItems: 'center', gap: 5, marginRight: 'auto' }}
    >
      <IconHistory size={15} stroke={1.75} aria-hidden />
      All changes
    </Anchor>
  );
}
