import type { ComponentType } from 'react';
import type { Store } from '../ui/store.ts';

/** A panel of a feature at the bottom of every screen, while it has something to show. */
export type Tray = {
  /** Called on every screen, so it must not load the code of the feature. */
  wanted: Store<boolean>;
  load: () => Promise<{ default: ComponentType }>;
};

const trays: Tray[] = [];

/** Registers a tray that is loaded when it is first shown. */
export function registerTray(tray: Tray): void {
  trays.push(tray);
}

export const registeredTrays = (): readonly Tray[] => trays;
