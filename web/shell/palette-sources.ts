import type { Needs, Resource } from '../../contract/permissions.ts';
import type { Icon } from '../ui/icons.tsx';

export type PaletteItem = {
  id: string;
  label: string;
  description?: string;
  /** The target of the entry, with its search parameters. */
  to: string;
  search?: Record<string, string>;
};

/** The entries of a feature in the command palette. */
export type PaletteSource = {
  /** Heading of its results. */
  group: string;
  /** The icon of its results. */
  icon: Icon;
  /** Only for users who may read this resource; undefined for everyone. */
  resource: Resource | undefined;
  /** Where it is not for those who may read the resource. */
  needs?: Needs;
  /** For users who may create the resource, shown without a search: "Create Customer". */
  creates?: readonly PaletteItem[];
  /** The list that finds all that match the text. */
  list?: (text: string) => Pick<PaletteItem, 'to' | 'search'>;
  /** Searches on the server; the signal is aborted when the text changes. */
  find: (text: string, signal: AbortSignal) => Promise<PaletteItem[]>;
};

/** How many records of a kind a search shows, before the link to the list with all. */
export const mostFound = 6;

type Loader = () => Promise<{ default: PaletteSource }>;
const loaders: Loader[] = [];

/** Adds a source that is loaded when the palette is first opened. */
export const registerPaletteSource = (load: Loader) => loaders.push(load);

export const loadPaletteSources = (): Promise<PaletteSource[]> =>
  Promise.all(loaders.map(async (load) => (await load()).default));
