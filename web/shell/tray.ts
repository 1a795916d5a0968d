import type { ComponentType } from 'react';

/** What a feature shows at the bottom of every screen, while there is something to show. */
export type Tray = {
  /** Asked on every screen: it must not need the feature's code. */
  wanted: { get: () => boolean; subscribe: (listener: () => void) => () => void };
  load: () => Promise<{ default: ComponentType }>;
};

const trays: Tray[] = [];

/** Adds a tray that is loaded when it is first wanted. */
export function registerTray(tray: Tray): void {
  trays.push(tray);
}

export const registeredTrays = (): readonly Tray[] => trays;
