import { expect, test } from 'vitest';
import { apiKeys } from '../contract/api-keys.ts';
import { audit } from '../contract/audit.ts';
import { validation } from '../contract/validation.ts';
import { makeApiKey, makeLicense } from './factories.ts';
import { startTestServer } from './harness.ts';

test('counting for a card or a question takes no connection of everyday calls', async () => {
  const server = await startTestServer();
  const staff = server.api(await server.signInAs('super_admin'));
  const [key, license] = [await makeApiKey(staff), await makeLicense(staff)];
  let taken = 0;
  server.pool.on('acquire', () => taken++);
  await staff.ok(apiKeys.impact, { params: { keyId: key.id } });
  await staff.ok(audit.cleanupImpact);
  await staff.ok(validation.ofLicense, { params: { id: license.licenseId } });
  expect(taken).toBe(0);
});
