import { expect, test } from 'vitest';
import { createTestDatabase } from './harness.ts';
import { hasNginx } from './nginx.ts';
import { restartRolling } from './rolling-restart.ts';

test.skipIf(!hasNginx)(
  'a rolling restart behind nginx, as the docs set it up, loses no call [needs nginx]',
  async () => {
    const database = await createTestDatabase({ empty: true });
    const { answered, lost } = await restartRolling(database.url, 1, { DRAIN_SECONDS: '1' });
    expect(lost).toEqual({});
    expect(answered.GET).toBeGreaterThan(50);
    expect(answered.POST).toBeGreaterThan(50);
    await database.drop();
  },
  60_000,
);
