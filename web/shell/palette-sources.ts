import type { Icon } from '@tabler/icons-react';
import type { Resource } from '../../contract/permissions.ts';

export type PaletteItem = {
  id: string;
  label: string;
  description?: string;
  /** Where choosing it leads, with the search part of that screen. */
  to: string;
  search?: Record<string, string>;
};

/** What a feature adds to the command palette. */
export type PaletteSource = {
  /** Heading of its results. */
  group: string;
  /** Stands before each of its results. */
  icon: Icon;
  /** Left out for those who may not read this. */
  resource: Resource;
  /** Offered without searching, such as "Create Customer"; `action` names the permission it needs. */
  actions?: readonly (PaletteItem & { action: 'create' | 'update' | 'delete' })[];
  /** Asks the server; the signal is aborted when typing goes on. */
  find: (text: string, signal: AbortSignal) => Promise<PaletteItem[]>;
};

const loaders: (() => Promise<PaletteSource>)[] = [];

/** Adds a source that is loaded when the palette is first opened. */
export function registerPaletteSource(load: () => Promise<PaletteSource>): void {
  loaders.push(load);
}

export const loadPaletteSources = (): Promise<PaletteSource[]> => Promise.all(loaders.map((load) => load()));
