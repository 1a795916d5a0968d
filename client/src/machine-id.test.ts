import nodeFs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import type { Files } from './durable.ts';
import { readMachineId, type System } from './machine-id.ts';
import { createStore } from './store.ts';

const nowhere = () => Promise.reject(new Error('ENOENT'));
const silent = { platform: 'linux', hostname: 'ws-07', readFile: nowhere, run: nowhere };

const guid = '4C4C4544-0044-4B10-8051-B4C04F4D3132';
const ran: string[][] = [];
const says =
  (text: string) =>
  (program: string, ...args: string[]) => {
    ran.push([program, ...args]);
    return Promise.resolve(text);
  };
const systems: [string, System][] = [
  ['linux', { ...silent, readFile: async () => '0123456789abcdef0123456789abcdef\n' }],
  [
    'win32',
    { ...silent, platform: 'win32', run: says(`\r\nHKEY…\r\n    MachineGuid    REG_SZ    ${guid}\r\n`) },
  ],
  ['darwin', { ...silent, platform: 'darwin', run: says(`+-o …\n    "IOPlatformUUID" = "${guid}"\n`) }],
];

test.each(systems)('%s: the id of the system, hashed, the same in every folder', async (_, system) => {
  const stores = await Promise.all([newFolder(), newFolder()]);
  const [one, other] = await Promise.all(stores.map((folder) => readMachineId(createStore(folder), system)));
  expect(one).toMatch(/^[\da-f]{32}$/);
  expect(one).toBe(other);
  expect(`${guid}0123456789abcdef`.toLowerCase()).not.toContain(one!.slice(0, 8));
});

test('what the system says now wins over the folder, which wins over nothing', async () => {
  const store = createStore(await newFolder());
  const [[, linux], [, windows]] = systems as [(typeof systems)[0], (typeof systems)[0]];
  const own = await readMachineId(store, linux);
  expect(await readMachineId(store, silent)).toBe(own);
  // the folder was copied to another machine
  const copied = await readMachineId(store, windows);
  expect(copied).not.toBe(own);
  expect(await readMachineId(store, silent)).toBe(copied);
});

test('a copied folder is no second machine where the system of the other one is silent', async () => {
  const store = createStore(await newFolder());
  const [, [, windows]] = systems as [unknown, (typeof systems)[0]];
  const own = await readMachineId(store, windows);
  const elsewhere = { ...silent, platform: 'win32', hostname: 'ws-08' };
  const copied = await readMachineId(store, elsewhere);
  expect(copied).not.toBe(own);
  expect(await readMachineId(store, elsewhere)).toBe(copied);
  expect(await readMachineId(store, windows)).toBe(own);
});

test('Windows is asked by a fixed path, which the environment does not change', async () => {
  vi.stubEnv('SystemRoot', String.raw`C:\nowhere`);
  ran.length = 0;
  await readMachineId(createStore(await newFolder()), systems[1]![1]);
  vi.unstubAllEnvs();
  expect(ran.map(([program]) => program)).toEqual([String.raw`C:\Windows\System32\reg.exe`]);
});

test('without an id of the system, a random one stays', async () => {
  const folder = await newFolder();
  const ids = await Promise.all(Array.from({ length: 5 }, () => readMachineId(createStore(folder), silent)));
  expect(new Set(ids).size).toBe(1);
  expect(await readMachineId(createStore(folder), silent)).toBe(ids[0]);
  let held = 3;
  const scanned = createStore(folder, {
    ...nodeFs,
    readFileSync: ((path: string) => {
      if (held-- > 0) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      return nodeFs.readFileSync(path, 'utf8');
    }) as Files['readFileSync'],
  });
  expect(await readMachineId(scanned, silent)).toBe(ids[0]);
  expect(await readMachineId(createStore(await newFolder()), silent)).not.toBe(ids[0]);
});

test.each(['', 'uninitialized\n', 'b08dfa6083e7567a1921a715000001fb\nmore\n'])(
  'an /etc/machine-id of %j is none',
  async (text) => {
    const system = { ...silent, readFile: async () => text };
    const [one, other] = [createStore(await newFolder()), createStore(await newFolder())];
    expect(await readMachineId(one, system)).not.toBe(await readMachineId(other, system));
  },
);

test('this machine has an id', async () => {
  expect(await readMachineId(createStore(await newFolder()))).toMatch(/^[\da-f]{32}$/);
});
