import type { ComponentType } from 'react';

type Load = () => Promise<{ default: ComponentType }>;

const notices: Load[] = [];

/** Registers a component above every screen; it renders a `Notice` or nothing. */
export function registerNotice(load: Load): void {
  notices.push(load);
}

export const registeredNotices = (): readonly Load[] => notices;
