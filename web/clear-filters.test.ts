import { expect, test } from 'vitest';
import { auditChips } from './features/audit/audit-chips.ts';
import { auditView } from './features/audit/audit-search.ts';
import { customerChips } from './features/customers/customer-chips.ts';
import { customerView } from './features/customers/queries.ts';
import { licenseChips } from './features/licenses/license-chips.ts';
import { licenseView } from './features/licenses/queries.ts';
import { machineChips } from './features/machines/machine-chips.ts';
import { machinesView } from './features/machines/queries.ts';
import { releaseView } from './features/releases/queries.ts';
import { releaseChips } from './features/releases/release-chips.ts';
import { userChips, usersView } from './features/users/user-filters.ts';

test.each([
  ['audit', auditChips({}), auditView, ['search']],
  ['customers', customerChips({}), customerView, ['search', 'sort']],
  ['licenses', licenseChips({}), licenseView, ['search', 'sort', 'tab']],
  ['machines', machineChips({}), machinesView, ['search', 'sort']],
  // why releases need somebody is a note above the list
  ['releases', releaseChips({}), releaseView, ['search', 'attention']],
  ['users', userChips({}), usersView, ['search']],
])('Clear Filters clears all filters of %s that a view holds', (_, { none }, { names }, others) => {
  expect([...Object.keys(none), ...others].toSorted()).toEqual(names.toSorted());
});
