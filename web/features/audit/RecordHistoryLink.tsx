import { paths } from '../../paths.ts';
import { IconHistory } from '../../ui/icons.tsx';
import { ScreenLink } from '../../ui/ScreenLink.tsx';

/** Link from a record to all its changes; nothing for users who may not read the audit log. */
export function RecordHistoryLink(props: { resourceType: string; resourceId: string }) {
  return (
    <ScreenLink
      to={paths.audit}
      search={props}
      style={{ display: 'inline-flex', alignItems: 'center', gap: 5, marginRight: 'auto' }}
    >
      <IconHistory />
      All changes
    </ScreenLink>
  );
}
