import { Button } from '@mantine/core';
import type { LicenseListMeta, LicenseTab } from '../../../contract/licenses.ts';
import { licenseTabs } from '../../../contract/list-words.ts';
import { useAuth } from '../../session.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { licenseChips } from './license-chips.ts';
import { stateBadges } from './license-labels.ts';
import { useLicenseSearch } from './licenses-search.ts';
import { tabOf } from './queries.ts';

const empty: Record<LicenseTab, { title: string; todo: string }> = {
  active: { title: 'No active licenses', todo: 'Create a license to issue a customer its key.' },
  revoked: {
    title: 'No revoked licenses',
    todo: 'A license that you revoke on the Active tab moves here, and can be reactivated from here.',
  },
  expired: {
    title: 'No expired licenses',
    todo: 'A license moves here when its Valid Until date has passed. Edit it to extend it.',
  },
};

/** Says why the list is empty, and what to do about it. */
export function NoLicenses({ meta }: { meta: LicenseListMeta | undefined }) {
  const { search } = useLicenseSearch();
  const tab = tabOf(search);
  if (search.search || licenseChips(search).chips.length > 0) {
    return <NothingFound tab={tab} counts={meta?.counts} />;
  }
  return (
    <EmptyState title={empty[tab].title} action={tab === 'active' && <CreateFirst />}>
      {empty[tab].todo}
    </EmptyState>
  );
}

function CreateFirst() {
  const { change } = useLicenseSearch();
  const { can } = useAuth();
  return can.createLicenses && <Button onClick={() => change({ dialog: 'create' })}>Create License</Button>;
}

/** Matches of the search may be in another tab. */
function NothingFound({ tab, counts }: { tab: LicenseTab; counts: LicenseListMeta['counts'] | undefined }) {
  const { search, change } = useLicenseSearch();
  const elsewhere = licenseTabs.filter((other) => other !== tab && counts && counts[other] > 0);
  return (
    <EmptyState
      title={`No ${tab} licenses found`}
      onClear={() => change({ ...licenseChips(search).none, search: undefined })}
      action={elsewhere.map((other) => (
        <Button key={other} variant="default" onClick={() => change({ tab: other })}>
          Show {counts?.[other]} {stateBadges[other].word.toLowerCase()}
        </Button>
      ))}
    >
      {elsewhere.length > 0
        ? 'There are matches on another tab.'
        : 'Try another search, or clear the filters.'}
    </EmptyState>
  );
}
