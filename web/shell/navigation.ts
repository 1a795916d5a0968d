import {
  IconArchive,
  IconBuilding,
  IconChartLine,
  IconHistory,
  IconKey,
  IconLicense,
  IconPackage,
  IconTags,
  IconTrash,
  IconUserCheck,
  IconUserCircle,
  IconUsers,
  type Icon,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { Action, Resource } from '../../contract/permissions.ts';
import { paths } from '../paths.ts';

export type NavigationItem = {
  label: string;
  to: NonNullable<LinkProps['to']>;
  /** Shown only to users who may read this resource. */
  resource: Resource;
  icon: Icon;
  /** `g`, then this key. */
  key: string;
};

/** A screen without a link in the navigation; the command palette lists it. */
export type FurtherPage = Pick<NavigationItem, 'label' | 'to' | 'icon'> & {
  /** Undefined: for every signed-in user. */
  resource: Resource | undefined;
  /** Synonyms for the search. */
  words: string;
};

/** The links of spec part 1, section 2, in its order; one for each screen that exists. */
export const navigation: readonly NavigationItem[] = [
  { label: 'Licenses', to: paths.licenses, resource: 'licenses', icon: IconLicense, key: 'l' },
  { label: 'Customers', to: paths.customers, resource: 'customers', icon: IconBuilding, key: 'c' },
  { label: 'Analytics', to: paths.analytics, resource: 'analytics', icon: IconChartLine, key: 'a' },
  { label: 'Releases', to: paths.releases, resource: 'releases', icon: IconPackage, key: 'r' },
  { label: 'Users', to: paths.users, resource: 'users', icon: IconUsers, key: 'u' },
  { label: 'Audit Log', to: paths.audit, resource: 'audit', icon: IconHistory, key: 'd' },
  { label: 'API Keys', to: paths.apiKeys, resource: 'api_keys', icon: IconKey, key: 'k' },
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

/** The first screen, in the order of the links, that the user may read; undefined if there is none. */
export const firstReadable = (
  hasPermission: (resource: Resource, action: Action) => boolean,
): NavigationItem | undefined => navigation.find((item) => hasPermission(item.resource, 'read'));
