import type { ComponentType } from 'react';

type Load = () => Promise<{ default: ComponentType }>;

const notices: Load[] = [];

/** Adds what a feature may have to say above every screen; it draws a `Notice`, or nothing. */
export function registerNotice(load: Load): void {
  notices.push(load);
}

export const registeredNotices = (): readonly Load[] => notices;
