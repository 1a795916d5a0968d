import type { LinkProps } from '@tanstack/react-router';
import {
  maySee,
  reads,
  seesApprovals,
  type Needs,
  type Permission,
  type Resource,
} from '../../contract/permissions.ts';
import { screens, type Screen } from '../../contract/screens.ts';
import { paths } from '../paths.ts';
import {
  IconArchive,
  IconBuilding,
  IconChartLine,
  IconDeviceDesktop,
  IconHistory,
  IconKey,
  IconLicense,
  IconPackage,
  IconSunrise,
  IconTags,
  IconTrash,
  IconUserCheck,
  IconUserCircle,
  IconUsers,
  type Icon,
} from '../ui/icons.tsx';

export type NavigationItem = {
  label: string;
  to: NonNullable<LinkProps['to']>;
  screen: Screen;
  /** Shown only to users who may read this resource; undefined: to everyone. */
  resource: Resource | undefined;
  icon: Icon;
  /** `g`, then this key. */
  key: string;
};

/** A screen without a link in the navigation; the command palette lists it. */
export type FurtherPage = Pick<NavigationItem, 'label' | 'to' | 'icon'> & {
  /** Undefined: for every signed-in user. */
  resource: Resource | undefined;
  /** Where it is not for those who may read the resource. */
  needs?: Needs;
  /** Synonyms for the search. */
  words: string;
};

const link = (screen: Screen, item: Omit<NavigationItem, 'screen' | 'resource'>): NavigationItem => ({
  ...item,
  screen,
  resource: screens[screen] ?? undefined,
});

/** Today, and the links of spec part 1, section 2, in its order; one for each screen that exists. */
export const navigation: readonly NavigationItem[] = [
  link('today', { label: 'Today', to: paths.today, icon: IconSunrise, key: 't' }),
  link('licenses', { label: 'Licenses', to: paths.licenses, icon: IconLicense, key: 'l' }),
  link('customers', { label: 'Customers', to: paths.customers, icon: IconBuilding, key: 'c' }),
  link('analytics', { label: 'Analytics', to: paths.analytics, icon: IconChartLine, key: 'a' }),
  link('releases', { label: 'Releases', to: paths.releases, icon: IconPackage, key: 'r' }),
  link('machines', { label: 'Machines', to: paths.machines, icon: IconDeviceDesktop, key: 'm' }),
  link('users', { label: 'Users', to: paths.users, icon: IconUsers, key: 'u' }),
  link('audit', { label: 'Audit Log', to: paths.audit, icon: IconHistory, key: 'd' }),
  link('api_keys', { label: 'API Keys', to: paths.apiKeys, icon: IconKey, key: 'k' }),
];

export const furtherPages: readonly FurtherPage[] = [
  {
    label: 'Soft Deleted customers',
    to: paths.customerTrash,
    resource: 'customers',
    icon: IconTrash,
    words: 'trash bin',
  },
  {
    label: 'Release Recycle Bin',
    to: paths.releaseTrash,
    resource: 'releases',
    icon: IconArchive,
    words: 'trash deleted',
  },
  {
    label: 'Approvals',
    to: paths.approvals,
    resource: 'rollouts',
    needs: seesApprovals,
    icon: IconUserCheck,
    words: 'change requests two people second person',
  },
  {
    label: 'Update Policies',
    to: paths.policies,
    resource: 'rollouts',
    icon: IconTags,
    words: 'tags groups pin deferral maintenance windows',
  },
  {
    label: 'Account',
    to: paths.account,
    resource: undefined,
    icon: IconUserCircle,
    words: 'password profile second factor sessions',
  },
];

type Held = readonly Permission[];

/** Whether the user may follow a link, or find a kind of record. */
export const isShown = ({ resource, needs }: Pick<FurtherPage, 'resource' | 'needs'>, held: Held): boolean =>
  maySee(needs ?? (resource ? reads(resource) : []), held);

/** The links that the user may follow; none for users who may not read anything, such as before a required second factor. */
export const reachable = (held: Held): NavigationItem[] => {
  const readsSome = navigation.some((item) => item.resource && isShown(item, held));
  return navigation.filter((item) => (item.resource ? isShown(item, held) : readsSome));
};

/** The first screen about a resource that the user may read, links before further pages; undefined if there is none. */
export const firstReadable = (held: Held): Pick<NavigationItem, 'label' | 'to'> | undefined =>
  [...reachable(held), ...furtherPages].find((page) => page.resource && isShown(page, held));

/** What `/` opens: the screen that the user chose, if they may read it, else the first readable one. */
export const firstScreen = (held: Held, chosen: Screen | null): ReturnType<typeof firstReadable> =>
  reachable(held).find(({ screen }) => screen === chosen) ?? firstReadable(held);
