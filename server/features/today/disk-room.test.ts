import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect, test } from 'vitest';
import { today as calls } from '../../../contract/today.ts';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { isNearlyFull, roomOf } from './disk-room.ts';

const gb = 1024 ** 3;
const disk = (blocks: number, bfree: number, bavail = bfree) => roomOf({ blocks, bfree, bavail, bsize: gb });

test('a disk is nearly full from 90 % on, if less than 20 GB are left', () => {
  expect(disk(100, 10)).toEqual({ usedPercent: 90, bytesLeft: 10 * gb });
  expect(isNearlyFull(disk(100, 10))).toBe(true);
  expect(isNearlyFull(disk(100, 11))).toBe(false);
  expect(isNearlyFull(disk(1000, 20))).toBe(false);
  expect(isNearlyFull(disk(1000, 19))).toBe(true);
});

test('what only root may use does not count', () => {
  expect(disk(100, 15, 5)).toEqual({ usedPercent: 95, bytesLeft: 5 * gb });
  expect(disk(0, 0).usedPercent).toBe(0);
});

test('a disk that hangs keeps nobody from Today, and blocks one thread', async () => {
  const server = await startTestServer();
  const staff = server.api((await server.signInAs('super_admin')).byCookie);
  const counts = async () => {
    const { lines } = await staff.ok(calls.get);
    return lines.filter(({ kind }) => kind === 'diskFull').map(({ count }) => count);
  };
  const { statfs } = fs;
  let end: () => void = () => undefined;
  const hangs = new Promise<void>((resolve) => (end = resolve));
  let asked = 0;
  fs.statfs = (async (folder: string) => {
    asked++;
    await hangs;
    return Object.assign(await statfs(folder), { blocks: 100, bfree: 1, bavail: 1, bsize: gb });
  }) as typeof statfs;
  syncBuiltinESMExports();
  try {
    expect([await counts(), await counts(), asked]).toEqual([[], [], 1]);
    end();
    await eventually(async () => expect(await counts()).toEqual([99]));
  } finally {
    end();
    fs.statfs = statfs;
    syncBuiltinESMExports();
  }
});
