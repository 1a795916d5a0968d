import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../tests/harness.ts';
import { openSnapshot } from './dump.ts';

test('the time of a snapshot is before it was taken, not after the keys were copied', async () => {
  const { url } = await createTestDatabase();
  let keysAt: Date | undefined;
  const snapshot = await openSnapshot(url, async () => {
    keysAt = new Date();
    await sleep(5);
  });
  await snapshot.end();
  expect(snapshot.madeAt.getTime()).toBeLessThanOrEqual(keysAt!.getTime());
});
