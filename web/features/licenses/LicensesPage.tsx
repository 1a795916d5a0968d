import { licenseTabs } from '../../../contract/list-words.ts';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { CreateButton, ImportButton } from '../../ui/ListButtons.tsx';
import { Page } from '../../ui/Page.tsx';
import { PageTabs } from '../../ui/PageTabs.tsx';
import { ImportLicenses } from '../imports/index.ts';
import { LicenseActivations } from './LicenseActivations.tsx';
import { LicenseList } from './LicenseList.tsx';
import { stateBadges } from './license-labels.ts';
import { tabOf } from './queries.ts';
import { useLicenseList, usePrefetch } from './use-license-list.ts';
import { LicenseModal } from './lazy.ts';

/** The license list (spec part 1, section 2); its whole state is in the URL. */
export function LicensesPage() {
  const { search, change, list } = useLicenseList();
  const { can } = useAuth();
  const prefetch = usePrefetch();

  return (
    <Page
      title="License Management"
      actions={
        can.createLicenses && (
          <>
            {can.viewCustomers && <ImportButton onClick={() => change({ dialog: 'import' })} />}
            <CreateButton onClick={() => change({ dialog: 'create' })}>Create License</CreateButton>
          </>
        )
      }
    >
      <PageTabs
        label="License states"
        tab={tabOf(search)}
        tabs={licenseTabs.map((value) => ({
          value,
          label: stateBadges[value].word,
          count: list.data?.meta.counts[value],
        }))}
        onTab={(tab) => change({ tab: tab === 'active' ? undefined : tab })}
        onApproach={(tab) => prefetch({ ...search, tab, page: undefined })}
      >
        <LicenseList />
      </PageTabs>
      <Dialogs />
    </Page>
  );
}

/** The dialogs that the URL can open. */
function Dialogs() {
  const { search, change, list } = useLicenseList();
  const { can } = useAuth();
  return (
    <LazyDialogs>
      {search.dialog === 'create' && can.createLicenses && (
        <LicenseModal onClose={() => change({ dialog: undefined })} />
      )}
      {search.dialog === 'import' && can.createLicenses && can.viewCustomers && (
        <ImportLicenses onClose={() => change({ dialog: undefined })} />
      )}
      {search.edit && (
        <LicenseModal key={search.edit} id={search.edit} onClose={() => change({ edit: undefined })} />
      )}
      {search.activations && (
        <LicenseActivations
          licenseKey={search.activations}
          known={list.data?.data.find((license) => license.licenseKey === search.activations)}
          onClose={() => change({ activations: undefined })}
        />
      )}
    </LazyDialogs>
  );
}
