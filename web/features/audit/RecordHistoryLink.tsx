import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { IconHistory } from '../../ui/icons.tsx';

/** Link from a record to all its changes; nothing for users who may not read the audit log. */
export function RecordHistoryLink(props: { resourceType: string; resourceId: string }) {
  const { can } = useAuth();
  if (!can.viewAudit) return null;
  return (
    <Anchor
      // as a function, because Anchor loses the type of the search
      renderRoot={(root) => <Link {...root} to={paths.audit} search={props} />}
      style={{ display: 'inline-flex', alignItems: 'center', gap: 5, marginRight: 'auto' }}
    >
      <IconHistory />
      All changes
    </Anchor>
  );
}
