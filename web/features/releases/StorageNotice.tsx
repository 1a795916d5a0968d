import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { noticesQuery } from '../../shell/notices-query.ts';
import { ScreenLink } from '../../ui/ScreenLink.tsx';

/**
 * Shown above every screen while the file storage is unavailable: uploads and downloads fail, and nothing else does.
 */
export function StorageNotice() {
  const { can } = useAuth();
  const { data, refetch, isFetching } = useQuery(noticesQuery);
  const isToday = useLocation({ select: ({ pathname }) => pathname === paths.today });
  if (!data?.storageDown || !can.viewReleases || isToday) return null;
  return (
    <Notice
      tone="orange"
      action={
        data.storageForeign ? (
          // the line of a notice has no room for it
          <ScreenLink to={paths.today} unstyled>
            What to do
          </ScreenLink>
        ) : (
          <Button variant="default" size="compact-sm" loading={isFetching} onClick={() => void refetch()}>
            Check Again
          </Button>
        )
      }
    >
      <strong>Files cannot be uploaded or downloaded: the storage is unavailable.</strong>{' '}
      {data.storageForeign === null
        ? 'Licenses are validated as usual. The server log says why.'
        : 'Today says why, and what to do.'}
    </Notice>
  );
}
