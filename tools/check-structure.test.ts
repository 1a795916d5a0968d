import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../tests/place.ts';

const { checkStructure } = (await import(join(import.meta.dirname, 'structure.mjs'))) as {
  checkStructure: (root: string) => { isValid: boolean; output: string };
};

async function folderOf(files: Record<string, string>): Promise<string> {
  const root = await newFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${text}\n`);
  }
  return root;
}
const check = async (files: Record<string, string>) => checkStructure(await folderOf(files));

test('the command exits with 1 if there is a violation', async () => {
  const run = (root: string) =>
    execFileSync(process.execPath, [join(import.meta.dirname, 'check-structure.mjs'), root], {
      stdio: 'pipe',
    });
  expect(run(await folderOf({})).toString()).toBe('The structure is valid.\n');
  const wrong = await folderOf({ 'contract/a.ts': importing('../server/config.ts') });
  expect(() => run(wrong)).toThrow(expect.objectContaining({ status: 1 }));
});

const importing = (path: string) => `import { x } from '${path}';`;

test('imports in the allowed directions pass', async () => {
  const { output } = await check({
    'client/src/index.ts': `export * from './check.ts';`,
    'client/src/check.ts': `${importing('node:crypto')}\n${importing('./keys.ts')}`,
    'client/src/check.test.ts': importing('../../tests/harness.ts'),
    'contract/index.ts': `export * from './customers.ts';`,
    'contract/customers.ts': `import { z } from 'zod';\n${importing('./common.ts')}`,
    'server/main.ts': importing('./app.ts'),
    'server/app.ts': importing('./features/customers/customers.routes.ts'),
    'server/jobs/purge.ts': importing('../features/customers/customers.ts'),
    'server/features/customers/customers.routes.ts': importing('./customers.ts'),
    'server/features/customers/customers.ts': [
      importing('../licenses/index.ts'),
      importing('../../db/client.ts'),
      importing('../../http/reply.ts'),
      importing('../../storage/disk.ts'),
      importing('../../../contract/customers.ts'),
    ].join('\n'),
    'server/features/customers/customers.test.ts': importing('../../../tests/harness.ts'),
    'web/routes.tsx': importing('./features/customers/customers-page.tsx'),
    'web/features/customers/customers-page.tsx': [
      importing('../licenses/index.ts'),
      importing('../../shell/page.tsx'),
      importing('../../api.ts'),
      importing('../../ui/table.tsx'),
    ].join('\n'),
    'web/shell/page.tsx': `${importing('../ui/table.tsx')}\n${importing('../session.tsx')}`,
    'web/ui/table.tsx': importing('./cell.tsx'),
    'tools/demo.ts': importing('../server/features/customers/customers.ts'),
  });
  expect(output).toBe('The structure is valid.\n');
});

test.each([
  ['client/src/a.ts', '../../contract/validation.ts', 'imports only client/'],
  ['server/app.ts', '../client/src/index.ts', 'nothing imports it'],
  ['contract/a.ts', '../server/config.ts', 'contract/ may import only contract/'],
  ['server/config.ts', '../web/api.ts', 'never import each other'],
  ['web/api.ts', '../server/config.ts', 'never import each other'],
  ['web/a.test.ts', '../server/config.ts', 'never import each other'],
  ['server/app.ts', '../tests/harness.ts', 'may not import tests/'],
  ['server/app.ts', './main.ts', 'main → app'],
  ['server/features/a/a.ts', '../../app.ts', 'main → app'],
  ['server/features/a/a.ts', '../../jobs/purge.ts', 'main → app'],
  ['server/http/auth.ts', '../features/a/a.ts', 'only features, jobs and app'],
  ['server/context.ts', './features/a/a.ts', 'only features, jobs and app'],
  ['server/db/client.ts', '../http/reply.ts', 'may not import http/'],
  ['server/features/a/a.ts', '../b/b.routes.ts', 'through its index.ts only'],
  ['server/features/a/a.ts', '../b/b.ts', 'through its index.ts only'],
  ['server/features/a/a.ts', './index.ts', 'for other features'],
  ['web/features/a/a.tsx', '../b/b.tsx', 'through its index.ts only'],
  ['web/features/a/a.tsx', './index.ts', 'for other features'],
  ['web/features/a/a.tsx', '../../routes.tsx', 'routes → features'],
  ['web/shell/page.tsx', '../features/a/a.tsx', 'routes → features'],
  ['web/api.ts', './shell/page.tsx', 'routes → features'],
  ['web/ui/table.tsx', '../../contract/index.ts', 'independent of the domain'],
  ['web/ui/table.tsx', '../api.ts', 'independent of the domain'],
  ['tests/e2e/a.e2e.ts', '../harness.ts', 'loads the whole service'],
])('%s may not import %s', async (file, path, reason) => {
  const { output } = await check({ [file]: importing(path) });
  expect(output).toContain(`error: ${file}: imports ${path}: `);
  expect(output).toContain(reason);
});

test.each([
  ['types', `import type { X } from '../web/api.ts';`],
  ['re-exports', `export * from '../web/api.ts';`],
  ['several lines', `import {\n  x,\n  y,\n} from '../web/api.ts';`],
  ['side effects', `import '../web/api.ts';`],
  ['calls', `const x = () => import('../web/api.ts');`],
  ['workers', `new Worker(new URL('../web/api.ts', import.meta.url));`],
])('an import counts as %s', async (_, text) => {
  expect((await check({ 'server/config.ts': text })).output).toContain('never import each other');
});

test('a cycle of features is reported once', async () => {
  const { output } = await check({
    'server/features/a/a.ts': importing('../b/index.ts'),
    'server/features/b/b.ts': importing('../c/index.ts'),
    'server/features/c/c.ts': importing('../a/index.ts'),
  });
  expect(output.match(/cycle of features/g)).toHaveLength(1);
  expect(output).toContain('server/a → server/b → server/c → server/a');
});

test('the index.ts of a feature only re-exports', async () =>
  expect((await check({ 'web/features/a/index.ts': 'export const x = 1;' })).output).toContain(
    'error: web/features/a/index.ts: does more than re-export',
  ));

test('barrels and long files are refused, tests may be long', async () => {
  const long = 'x;\n'.repeat(500);
  const { output } = await check({
    'web/ui/index.ts': `// All of it.\nexport { a } from './a.tsx';`,
    'server/long.ts': long,
    'server/longish.ts': 'x;\n'.repeat(400),
    'server/long.test.ts': long,
  });
  expect(output).toContain('error: web/ui/index.ts: only re-exports');
  expect(output).toContain('error: server/long.ts: 501 lines');
  expect(output).toContain('warning: server/longish.ts: 401 lines');
  expect(output).not.toContain('long.test.ts');
});

test.each([
  ['<TextInput type="date" />', 'DayField'],
  ["<input type={'datetime-local'} />", 'DayField'],
  ['<TextInput type="number" />', 'NumberField'],
  ['<Select\n  data={all}\n  searchable\n/>', 'SearchSelect'],
])('%j is refused outside web/ui', async (text, instead) => {
  const { output } = await check({ 'web/features/a/a.tsx': text, 'web/ui/field.tsx': text });
  expect(output).toMatch(new RegExp(`^error: web/features/a/a.tsx: .* ${instead} `));
  expect(output).not.toContain('web/ui/field.tsx');
});

test.each(["n.toLocaleString('en')", 'n.toFixed(2)', "new Intl.NumberFormat('en')", 'a.localeCompare(b)'])(
  '%j is refused: it does not follow the reader',
  async (text) => {
    const { output } = await check({
      'web/features/a/a.tsx': text,
      'web/ui/numbers.ts': text,
      'web/ui/a.test.ts': text,
    });
    expect(output).toMatch(/^error: web\/features\/a\/a.tsx: .* does not follow the reader/);
    expect(output).toContain('1 violations.');
  },
);

test.each([
  ['<LazyDialogs>{asked && <Ask />}</LazyDialogs>', 'useKept'],
  ["import { Dialog } from '../../ui/Dialog.tsx';\n<NumberField\n  value={asked}\n/>", 'useEntered'],
])('%j is refused: it loses its state when the session expires', async (text, instead) => {
  const bare = `const [asked, ask] = useState<string>();\n${text}`;
  const { output } = await check({
    'web/features/a/a.tsx': bare,
    'web/features/a/b.tsx': bare.replace('useState<string>()', `${instead}('asked')`),
  });
  expect(output).toContain(`error: web/features/a/a.tsx: asked: `);
  expect(output).toContain(instead);
  expect(output).not.toContain('b.tsx');
});

test('a list with a search says how many results there are', async () => {
  const { output } = await check({
    'web/features/a/a.tsx': '<ListSearch search={search} />',
    'web/features/a/b.tsx': '<ListSearch search={search} />\n<ListCount found={found} />',
  });
  expect(output).toContain('error: web/features/a/a.tsx: ListSearch: ');
  expect(output).not.toContain('b.tsx');
});

test('the name of a button is in title case', async () => {
  const { output } = await check({
    'web/a.tsx': `
      <Button leftSection={<Icon />} onClick={() => undo()}>
        Put back
      </Button>
      <Button>{copied ? 'Copied!' : 'Copy key'}</Button>
      <Confirm confirmLabel="Clean up" />`,
    'web/b.tsx':
      '<Button>Create License</Button><Button>Back to Licenses</Button><Button>and {n} more</Button>',
  });
  expect(output.match(/^error: .*: .*(?=: the name of a button)/gm)).toEqual([
    'error: web/a.tsx: Put back',
    'error: web/a.tsx: Clean up',
    'error: web/a.tsx: Copy key',
  ]);
  expect(output).toContain('3 violations.');
});

test('the schema of a call is refused in the console, which is built without it', async () => {
  const text = (use: string) => `import { users as calls } from '../../../contract/users.ts';\n${use};`;
  const { output } = await check({
    'contract/users.ts': '',
    'web/features/a/a.ts': text('calls.update.body.parse(x)'),
    'web/features/a/b.ts': text('call(calls.update, { body }); type A = z.output<typeof calls.list.answer>'),
    'web/features/a/a.test.ts': text('calls.update.body.parse(x)'),
  });
  expect(output).toMatch(
    /^error: web\/features\/a\/a.ts: calls.update.body is undefined in the built console/,
  );
  expect(output).toContain('1 violations.');
});

test.each([
  ['await sql`update t set a = ${x}`.execute(db);', 'db'],
  [
    'await sql<{ id: string }>`\n  with n as (select 1) insert into t select ${sql`1`}`.execute(parts.db);',
    'parts.db',
  ],
  ['sql`delete from ${sql.table(name)}`\n  .execute(pool)', 'pool'],
])('%j writes outside of a change', async (text, by) => {
  const { output } = await check({
    'server/features/a/a.ts': text,
    'server/features/a/b.ts': text.replace(`(${by})`, '(change.tx)'),
    'server/features/a/c.ts':
      'sql`select updated_at from t where ${`insert into`.length} > 1`.execute(tx); sql`select 1`.execute(db);',
    'server/features/a/a.test.ts': text,
  });
  expect(output).toContain(`error: server/features/a/a.ts: sql that writes is executed by ${by}:`);
  expect(output).not.toMatch(/a\/[bc]\.ts|test\.ts/);
});

test('an update or a deletion names its rows', async () => {
  const keys = "await tx.updateTable('api_keys').set({ is_active: false })";
  const { output } = await check({
    'server/features/a/a.ts': `${keys}.execute();\n${keys}.where('id', '=', id).execute();`,
    'server/features/a/b.ts': `${keys}.where('id', '=', id).execute();`,
    'server/features/a/c.ts': "await tx.updateTable('newest_moment').set({ at }).execute();",
    'server/features/a/a.test.ts': `${keys}.execute();`,
  });
  expect(output.match(/error: .*/g)).toEqual([
    "error: server/features/a/a.ts: 'api_keys': a write of all rows: name them with where",
  ]);
});

test('a decision record has a number, title, status and date', async () => {
  const { output } = await check({
    'docs/decisions/001-good.md': '# 1. Good\n\nAccepted, 2026-11-20.\n\n**Context.**',
    'docs/decisions/002-gone.md': '# 2. Gone\n\nReplaced by [1](001-good.md), 2026-11-21.\n',
    'docs/decisions/003-bad.md': '# 3. Bad\n\n**Context.** None.',
  });
  expect(output).toContain('003-bad.md');
  expect(output).not.toMatch(/00[12]-/);
});

test('a screen links to another by what asks for the rights of that', async () => {
  const link = `import { Link, useRouter } from '@tanstack/react-router';`;
  const { output } = await check({
    'web/ui/ScreenLink.tsx': link,
    'web/shell/TopBar.tsx': link,
    'web/ui/Page.tsx': `import { useRouter } from '@tanstack/react-router';`,
    'web/features/a/Page.tsx': link,
  });
  expect(output).toContain('web/features/a/Page.tsx: Link: use ScreenLink');
  expect(output).toContain('1 violations');
});

test('the hash of a machine is spelled out in one file', async () => {
  const hash = 'sql`select machine_hash(a.machine_id)`';
  const { output } = await check({ 'server/db/sql.ts': hash, 'server/features/machines/machines.ts': hash });
  expect(output).toContain('server/features/machines/machines.ts: machine_hash(): use recordHash');
  expect(output).toContain('1 violations');
});

test('a bundled file may not ask for its own folder', async () => {
  const text = 'const folder = path.join(import.meta.dirname, "files");';
  const { output } = await check({
    'server/db/a.ts': text,
    'server/db/a.test.ts': text,
    'server/root.ts': text,
    'tools/console-a.ts': text,
  });
  expect(output).toMatch(/^error: server\/db\/a.ts: import.meta.dirname is another folder in the build/);
  expect(output).toContain('1 violations.');
});

test('a test that docs/spec-coverage names exists', async () => {
  const { output } = await check({
    'web/a.test.ts': `test('what\\'s found', …)`,
    'docs/spec-coverage/part-1.md': [
      '| What the spec says | Test |',
      '|---|---|',
      "| One | `web/a.test.ts › what's found`<br>`web/a.test.ts › what is lost` |",
      '| Two | **missing** |',
      '| Three | `web/b.test.ts › found` |',
      '| Four | `web/a.test.ts` |',
      '| Five |',
    ].join('\n'),
    'docs/spec-coverage/part-2.md': 'No table.',
  });
  expect(output.split('\n').filter(Boolean)).toEqual([
    'error: docs/spec-coverage/part-1.md: web/a.test.ts has no test "what is lost"',
    'error: docs/spec-coverage/part-1.md: no test file web/b.test.ts',
    'error: docs/spec-coverage/part-1.md: no title after web/a.test.ts',
    'error: docs/spec-coverage/part-1.md: a row of 1 cells: Five',
    'error: docs/spec-coverage/part-2.md: has no rows',
    '5 violations.',
  ]);
});

test.each([
  ['expect(\n  await row.getByRole("cell").count(),\n).toBe(1)', 'count: use the assertion of the locator'],
  ['expect(await field.inputValue()).toBe("")', 'inputValue: use the assertion of the locator'],
  ['expect(await box.isChecked()).toBe(true)', 'isChecked: use the assertion of the locator'],
  [
    'await button.click();\nawait page.waitForResponse(url)',
    'waitForResponse: begin to wait before the action',
  ],
])('%j is refused in a browser test', async (text, advice) => {
  const { output } = await check({ 'tests/e2e/a.e2e.ts': text, 'server/a.test.ts': text });
  expect(output).toContain(`error: tests/e2e/a.e2e.ts: ${advice}`);
  expect(output).toContain('1 violations.');
});

test('a test may not create a folder that it has to remove itself', async () => {
  const name = 'mkdtemp';
  const text = `await ${name}(join(tmpdir(), 'x-'));`;
  const { output } = await check({ 'server/a.test.ts': text, 'server/a.ts': text });
  expect(output).toContain('error: server/a.test.ts: mkdtemp: newFolder() of tests/place.ts');
  expect(output).toContain('1 violations.');
});
