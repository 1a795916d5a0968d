import { Button } from '@mantine/core';
import { Suspense } from 'react';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { Page } from '../../ui/Page.tsx';
import { PageTabs } from '../../ui/PageTabs.tsx';
import { ScreenButton } from '../../ui/ScreenLink.tsx';
import { IconStairsUp, IconTags, IconTrash, IconUserCheck } from '../../ui/icons.tsx';
import { NewReleaseButton } from '../uploads/index.ts';
import { PausedRollouts } from './PausedRollouts.tsx';
import { LazyEditRelease } from './lazy.ts';
import { ReleaseList } from './ReleaseList.tsx';
import { useReleasesSearch } from './releases-search.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const ReleaseAnalytics = lazyPart(() => import('./ReleaseAnalytics.tsx'));
const DefaultRollouts = lazyPart(() => import('./DefaultRollouts.tsx'));

const tabs = [
  { value: 'releases', label: 'Releases' },
  { value: 'analytics', label: 'Analytics' },
] as const;

/** Releases and their analytics (spec part 2, section 2.1); the state and the open dialog are in the URL. */
export function ReleasesPage() {
  const { search, change } = useReleasesSearch();
  const { can } = useAuth();
  const tab = search.tab ?? 'releases';
  return (
    <Page title="Release Management" actions={<Actions />}>
      <PausedRollouts />
      <PageTabs
        label="Releases and analytics"
        tab={tab}
        tabs={tabs}
        onTab={(chosen) => change({ tab: chosen === 'analytics' ? chosen : undefined })}
      >
        {tab === 'releases' ? (
          <ReleaseList />
        ) : (
          <Suspense>
            <ReleaseAnalytics />
          </Suspense>
        )}
      </PageTabs>
      <LazyDialogs>
        {search.dialog === 'defaults' && can.manageRollouts && (
          <DefaultRollouts onClose={() => change({ dialog: undefined })} />
        )}
        {search.edit && can.updateReleases && (
          <LazyEditRelease key={search.edit} id={search.edit} onClose={() => change({ edit: undefined })} />
        )}
      </LazyDialogs>
    </Page>
  );
}

function Actions() {
  const { search, change } = useReleasesSearch();
  const { can } = useAuth();
  return (
    <>
      {can.manageRollouts && (
        <Button
          variant="default"
          leftSection={<IconStairsUp />}
          onClick={() => change({ dialog: 'defaults' })}
        >
          Default Rollout
        </Button>
      )}
      <ScreenButton to={paths.releaseTrash} leftSection={<IconTrash />}>
        Recycle Bin
      </ScreenButton>
      <ScreenButton to={paths.approvals} leftSection={<IconUserCheck />}>
        Approvals
      </ScreenButton>
      <ScreenButton to={paths.policies} leftSection={<IconTags />}>
        Update Policies
      </ScreenButton>
      <NewReleaseButton
        opened={search.dialog === 'create'}
        onOpen={() => change({ dialog: 'create' })}
        upload={search.upload}
        onUpload={(upload) => change({ upload })}
        onClose={() => change({ dialog: undefined, upload: undefined })}
      />
    </>
  );
}
