import type { ComponentType } from 'react';
import type { Store } from '../ui/store.ts';

/** What a feature shows at the bottom of every screen, while there is something to show. */
export type Tray = {
  /** Asked on every screen: it must not need the feature's code. */
  wanted: Store<boolean>;
  load: () => Promise<{ default: ComponentType }>;
};

const trays: Tray[] = [];

/** Adds a tray that is loaded when it is first wanted. */
export function registerTray(tray: Tray): void {
  trays.push(tray);
}

export const registeredTrays = (): readonly Tray[] => trays;
