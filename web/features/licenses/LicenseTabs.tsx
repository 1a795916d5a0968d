import type { ReactNode } from 'react';
import { licenseTabs, type LicenseListMeta, type LicenseTab } from '../../../contract/licenses.ts';
import { PageTabs } from '../../ui/PageTabs.tsx';
import { stateBadges } from './license-labels.ts';

/** Active, Revoked and Expired with their counts; the list below is the panel of the selected tab. */
export function LicenseTabs(props: {
  tab: LicenseTab;
  counts: LicenseListMeta['counts'] | undefined;
  onTab: (tab: LicenseTab) => void;
  /** Prefetches the tab under the pointer, which is likely to be selected. */
  onApproach: (tab: LicenseTab) => void;
  children: ReactNode;
}) {
  const { counts, ...rest } = props;
  const tabs = licenseTabs.map((value) => ({
    value,
    label: stateBadges[value].word,
    count: counts?.[value],
  }));
  return <PageTabs label="License states" tabs={tabs} {...rest} />;
}
