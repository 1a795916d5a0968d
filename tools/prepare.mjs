// Prepares a checkout for a command: installs packages, with the argument "tests" also those that only tests, checks and
// the bench use; with "build" builds if anything changed, with "server" only the server, for development, where Vite
// serves the console from its sources.
// It runs before packages are installed, so it uses only Node.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  lstatSync,
} from 'node:fs';
import { join } from 'node:path';
import { installed, root, run, since } from './process.mjs';

const SOURCES = /^(contract|server|web|tools|package-lock\.json|vite\.config\.ts|tsconfig.*\.json)$/;

async function step(title, command, options) {
  const from = performance.now();
  process.stdout.write(`${title} … `);
  const { ok, output } = await run(command, { quiet: true, ...options });
  process.stdout.write(ok ? `${since(from)}\n` : 'failed\n');
  if (ok) return;
  process.stdout.write(output);
  process.exit(1);
}

function packagesIn(lock) {
  const { packages } = JSON.parse(readFileSync(lock, 'utf8'));
  return Object.entries(packages).filter(([, { integrity }]) => integrity);
}

/** None where npm left no list, or half of one on a full disk. */
function installedIn(packages) {
  try {
    return packagesIn(join(packages, '.package-lock.json'));
  } catch {
    return [];
  }
}

/**
 * Whether what is installed is what the checkout asks for. Times do not tell: files of an archive have that of their
 * commit. An optional package may be for another platform.
 */
function compareInstalled(packages) {
  const wanted = new Map(packagesIn(join(root, 'package-lock.json')));
  const found = new Map(installedIn(packages));
  const isWanted = [...found].every(([path, { integrity }]) => wanted.get(path)?.integrity === integrity);
  const missing = [...wanted].filter(([path, one]) => !found.has(path) && !one.optional && !one.devOptional);
  return { isCurrent: isWanted && missing.every(([, { dev }]) => dev), isComplete: missing.length === 0 };
}

async function install(withTests) {
  const packages = join(root, 'node_modules');
  // npm would empty the folder that a symbolic link points to.
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const { isCurrent, isComplete } = compareInstalled(packages);
  if (isCurrent && (isComplete || !withTests)) return;
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  // "npm ci" would remove what a running service uses.
  const command = isCurrent ? ['install', '--no-save'] : ['ci'];
  const chosen = [withTests ? '--include=dev' : '--omit=dev', '--include=optional'];
  await step('Installing packages', [...npm, ...command, ...chosen]);
}

// safe.directory: a checkout may belong to another account than this process (root in a container).
function git(...args) {
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .toString()
    .trim();
}

// An image is built without the git history: the environment has the values.
function revision() {
  const { LANYARD_BUILD, LANYARD_COMMIT } = process.env;
  if (LANYARD_COMMIT) return { build: Number(LANYARD_BUILD ?? 0), commit: LANYARD_COMMIT };
  try {
    return { build: Number(git('rev-list', '--count', 'HEAD')), commit: git('rev-parse', '--short', 'HEAD') };
  } catch {
    return { build: 0, commit: 'dev' };
  }
}

/** Of names, sizes and times: what an archive brings may be older than the build of another version. */
function sourcesHash() {
  const hash = createHash('sha256');
  const add = (path) => {
    const found = lstatSync(join(root, path));
    if (found.isDirectory())
      for (const name of readdirSync(join(root, path)).toSorted()) add(join(path, name));
    else hash.update(`${path} ${found.size} ${found.mtimeMs}\n`);
  };
  for (const name of readdirSync(root).toSorted()) if (SOURCES.test(name)) add(name);
  return hash.digest('hex');
}

const buildServer = (target) =>
  step('Building the server', [process.execPath, join('tools', 'build-server.mjs'), target]);

async function buildAll() {
  const dist = join(root, 'dist');
  const { build, commit } = revision();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // Before the build: a file edited while it runs is built the next time.
  const stamp = `${JSON.stringify({ version, build, commit, sources: sourcesHash() })}\n`;
  const built = join(dist, 'build.json');
  if (existsSync(built) && readFileSync(built, 'utf8') === stamp) return;

  // Built in a temporary folder and then renamed, so that a failed build leaves the last good one.
  const draft = `${dist}.new-${process.pid}`;
  const old = `${dist}.old-${process.pid}`;
  process.once('exit', () => [draft, old].forEach((path) => rmSync(path, { recursive: true, force: true })));
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'build.json'), stamp);
  const env = { LANYARD_BUILD: String(build), LANYARD_COMMIT: commit };
  await buildServer(draft);
  const vite = [
    ...installed('vite'),
    'build',
    '--outDir',
    join(draft, 'web'),
    '--emptyOutDir',
    '--logLevel',
    'warn',
  ];
  await step('Building the console', vite, { env });
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(draft, dist);
}

await install(process.argv.includes('tests'));
if (process.argv.includes('build')) await buildAll();
// built in place without a stamp, so that the next full build does not take it for complete
if (process.argv.includes('server')) await buildServer(join(root, 'dist'));
