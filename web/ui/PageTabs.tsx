import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTitlePart } from './document-title.ts';
import classes from './PageTabs.module.css';

/** Parts of a screen of which one is shown; what is below belongs to the chosen one. */
export function PageTabs<T extends string>(props: {
  label: string;
  tab: T;
  /** `count: undefined`: it is on its way. */
  tabs: readonly { value: T; label: string; count?: number | undefined }[];
  onTab: (tab: T) => void;
  /** Someone points at a tab, and will probably choose it. */
  onApproach?: (tab: T) => void;
  children: ReactNode;
}) {
  const { label, tab, tabs, onTab, onApproach, children } = props;
  const shown = tabs.findIndex((one) => one.value === tab);
  // A screen opens at its first tab, which needs no name of its own.
  useTitlePart('tab', shown > 0 ? tabs[shown]?.label : undefined);
  const change = (value: string | null) => {
    const chosen = tabs.find((one) => one.value === value);
    if (chosen) onTab(chosen.value);
  };
  return (
    <Tabs value={tab} onChange={change} className={classes.tabs}>
      <Tabs.List aria-label={label}>
        {tabs.map(({ value, label: name, ...counted }) => (
          <Tabs.Tab
            key={value}
            value={value}
            className={classes.tab}
            onPointerEnter={() => onApproach?.(value)}
            onFocus={() => onApproach?.(value)}
            rightSection={
              'count' in counted && (
                <span className={classes.count}>{counted.count?.toLocaleString('en')}</span>
              )
            }
          >
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} className={classes.panel}>
        {children}
      </Tabs.Panel>
    </Tabs>
  );
}
