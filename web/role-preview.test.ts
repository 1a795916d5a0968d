import { afterEach, expect, test } from 'vitest';
import { overviewQuery } from './features/customer-page/queries.ts';
import {
  machineQuery,
  machinesListQuery,
  standingQuery,
  timelineQuery,
} from './features/machines/queries.ts';
import { machinesQuery } from './features/rollouts/queries.ts';
import { setRolePreview } from './role-preview.ts';

afterEach(() => setRolePreview(null));

const standing = { version: '4.2.0', state: 'refused', code: 'REVOKED', license: {}, customer: {} };
const bare = {
  ...standing,
  state: null,
  code: null,
  since: null,
  license: null,
  seat: null,
  offlineUntil: null,
  customer: null,
};
const runs = [{ kind: 'check' }, { kind: 'validation' }];
const pages = { pages: [{ data: runs }, { data: runs }], pageParams: [] };

test.each<[string, { select?: unknown }, answer: object, permitted: object]>([
  ['where a machine stands', standingQuery('m'), standing, bare],
  ['machines', machinesListQuery({}), { data: [standing], meta: {} }, { data: [bare], meta: {} }],
  ['a machine', machineQuery('m'), { totals: {}, activations: [{}] }, { totals: {}, activations: [] }],
  ['what a machine did', timelineQuery('m'), pages, [{ kind: 'check' }, { kind: 'check' }]],
  [
    'machines of a release',
    machinesQuery('r', {}, 10),
    { data: [{ runs: '4.2.0', customers: [{}] }], meta: {} },
    { data: [{ runs: '4.2.0', customers: null }], meta: {} },
  ],
  [
    'a customer',
    overviewQuery('c'),
    { tags: [], seats: {}, machines: 1, refused: {}, releases: [] },
    { tags: [], seats: null, machines: null, refused: null, releases: null },
  ],
])('%s is shown in a preview as the role is answered', (_, { select }, answer, permitted) => {
  const shown = select as (answer: object) => object;
  const whole = shown(answer);
  expect(whole).toEqual(answer === pages ? [...runs, ...runs] : answer);
  setRolePreview({ role: 'viewer', label: 'Viewer', permissions: [] });
  expect(shown(answer)).toEqual(permitted);
  const permissions = (['licenses', 'customers', 'releases'] as const).map((resource) => ({
    resource,
    action: 'read' as const,
  }));
  setRolePreview({ role: 'admin', label: 'Admin', permissions });
  expect(shown(answer)).toEqual(whole);
});
