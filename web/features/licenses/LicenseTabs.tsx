import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { licenseTabs, type LicenseListMeta, type LicenseTab } from '../../../contract/licenses.ts';
import { oneOf } from '../../search-params.ts';
import { stateBadges } from './license-words.ts';
import classes from './licenses.module.css';

/** Active, Revoked and Expired with their counts; what is below belongs to the chosen one. */
export function LicenseTabs(props: {
  tab: LicenseTab;
  counts: LicenseListMeta['counts'] | undefined;
  onTab: (tab: LicenseTab) => void;
  /** Someone points at a tab, and will probably choose it. */
  onApproach: (tab: LicenseTab) => void;
  children: ReactNode;
}) {
  const { tab, counts, onTab, onApproach } = props;
  const change = (value: string | null) => {
    const chosen = oneOf(licenseTabs, value ?? undefined);
    if (chosen) onTab(chosen);
  };
  return (
    <Tabs value={tab} onChange={change} className={classes.tabs}>
      <Tabs.List aria-label="License states">
        {licenseTabs.map((one) => (
          <Tabs.Tab
            key={one}
            value={one}
            className={classes.tab}
            onPointerEnter={() => onApproach(one)}
            onFocus={() => onApproach(one)}
            rightSection={counts && <span className={classes.count}>{counts[one].toLocaleString('en')}</span>}
          >
            {stateBadges[one].word}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} className={classes.panel}>
        {props.children}
      </Tabs.Panel>
    </Tabs>
  );
}
