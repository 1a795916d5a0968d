import { createPublicKey } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../server/root.ts';
import { newFolder } from '../tests/place.ts';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'client/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name)),
];
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const scriptsOf = (name: string) =>
  Object.keys((JSON.parse(read(name)) as { scripts: Record<string, string> }).scripts);

/** The anchors that a document has on GitHub, of its headings. */
const anchorsOf = (name: string) =>
  [...read(name).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

test.each(documents)('links of %s lead to a file and a heading, and its commands exist', (name) => {
  for (const [, link] of read(name).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [file, anchor] = link!.split('#') as [string, string?];
    const target = file ? path.join(path.dirname(name), file) : name;
    expect(existsSync(path.join(root, target)), link).toBe(true);
    if (anchor) expect(anchorsOf(target), link).toContain(anchor);
  }
  const commands = [...read(name).matchAll(/npm (?:--prefix \S+ )?run ([\w:-]+)/g)].map(([, one]) => one!);
  const scripts = [...scriptsOf('package.json'), ...scriptsOf('client/package.json')];
  expect(scripts).toEqual(expect.arrayContaining(commands));
});

test('tables that grow with machines are under Data growth', () => {
  const rooms = ['update-events', 'validation'].map((name) => path.join('server/features', name));
  const sources = rooms.flatMap((room) =>
    readdirSync(path.join(root, room))
      .filter((name) => !name.endsWith('.test.ts'))
      .map((name) => read(path.join(room, name))),
  );
  const filled = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/insert\s*into (\w+)|insertInto\('(\w+)/gi)].map((one) => one[1] ?? one[2]),
    ),
  );
  // a row per day, per license and code, or per release
  const small = ['active_days', 'update_days', 'validation_days', 'license_refusals', 'release_totals'];
  const [growth] = /## Data growth\n[^]*?\n## /.exec(read('docs/operating.md'))!;
  const named = [...growth.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect([...filled].filter((table) => !small.includes(table!) && !named.includes(table))).toEqual([]);
});

test('the sample that follows a new key does what the test vectors say, and no list replaces a shipped key', async () => {
  const sample = /```ts\n([^`]*export function follow[^`]*)```/.exec(read('docs/desktop-api.md'))![1]!;
  const file = path.join(await newFolder(), 'follow.ts');
  await writeFile(file, sample);
  type Follow = (trusted: ReadonlyMap<string, string>, list: unknown) => Map<string, string>;
  const { follow } = (await import(/* @vite-ignore */ file)) as { follow: Follow };
  type Case = { name: string; trusted: string[]; list: object[] | null; known: string[] };
  const { cases, ...shared } = JSON.parse(read('client/vectors/endorsements.json')) as { cases: Case[] };
  const id = '7917b6bd40df95fc';
  for (const { name, trusted, list, known } of cases.map((one) => ({ ...shared, ...one }))) {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: trusted[0]! }, format: 'jwk' });
    const shipped = key.export({ type: 'spki', format: 'pem' }).toString();
    // nobody signed what stands beside an endorsement
    for (const sent of [list, list?.map((entry) => ({ ...entry, keyId: id }))]) {
      const followed = follow(new Map([[id, shipped]]), sent);
      expect([...followed.keys()].toSorted(), name).toEqual(known);
      expect(followed.get(id), name).toBe(shipped);
    }
  }
});
