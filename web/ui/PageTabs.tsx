import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTitlePart } from './document-title.ts';
import classes from './PageTabs.module.css';
import { countText } from './numbers.ts';

/** The tabs of a screen. */
export function PageTabs<T extends string>(props: {
  label: string;
  tab: T;
  /** `count: undefined`: loading. */
  tabs: readonly { value: T; label: string; count?: number | undefined }[];
  onTab: (tab: T) => void;
  /** Called when the pointer is on a tab, for example to prefetch it. */
  onApproach?: (tab: T) => void;
  children: ReactNode;
}) {
  const { label, tab, tabs, onTab, onApproach, children } = props;
  const shown = tabs.findIndex((one) => one.value === tab);
  // The first tab is the default, so it is not in the URL.
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
            onPointerEnter={() => onApproach?.(value)}
            onFocus={() => onApproach?.(value)}
            rightSection={
              'count' in counted && (
                <span className={classes.count}>
                  {counted.count !== undefined && countText(counted.count)}
                </span>
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
