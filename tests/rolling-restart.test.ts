import { expect, test } from 'vitest';
import { createTestDatabase } from './harness.ts';
import { counted } from './load.ts';
import { hasNginx } from './run-nginx.ts';
import { restartRolling } from './rolling-restart.ts';

test.skipIf(!hasNginx)(
  'a rolling restart behind nginx, as the docs set it up, loses no call and makes none twice [needs nginx]',
  async () => {
    const database = await createTestDatabase({ empty: true });
    const { seen, lost } = await restartRolling(database.url, 1, {
      settings: { DRAIN_SECONDS: '1' },
    });
    const { answered, refused, failed } = counted(seen);
    expect({ refused, failed, lost }).toEqual({ refused: 0, failed: [], lost: [] });
    expect(answered).toBeGreaterThan(100);
  },
);
