import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../server/root.ts';

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
