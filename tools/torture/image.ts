import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../tests/find-program.ts';

const exec = promisify(execFile);
const checkout = process.cwd();
const containerfile = join(checkout, 'deploy/Containerfile');

/** A built image: its root folder, and its configuration to run it. */
export type Image = {
  root: string;
  folder: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthCheck: string[];
};

/** False where Buildah is not installed. */
export const hasBuildah = findProgram('buildah') !== undefined;

/** Environment variables that a build needs to reach the package registry through a proxy. */
const networkEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /proxy$|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_/i.test(name)),
) as Record<string, string>;
const packages = join(homedir(), '.npm');

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A shell command that runs `command` with only these environment variables. */
export const withSettings = (env: Record<string, string>, command: string[]) =>
  ['/usr/bin/env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command]
    .map(quoted)
    .join(' ');

/** Copies the parts of the Node image that are needed from this machine: Node, npm, a shell and their libraries. */
async function makeBase(root: string): Promise<void> {
  const script = 'for one in node sh env mkdir chown rm; do command -v $one; done';
  const programs = (await exec('sh', ['-c', script])).stdout.trim().split('\n');
  const linked = await exec('ldd', programs);
  const libraries = [...linked.stdout.matchAll(/(\/lib\S+\.so\S*)/g)].map(([, file]) => file!);
  // needed by compiled packages
  const glibc = dirname(libraries.find((file) => file.includes('/libc.so'))!);
  libraries.push(
    ...['librt.so.1', 'libpthread.so.0', 'libdl.so.2', 'libm.so.6'].map((name) => join(glibc, name)),
  );
  const npm = join(dirname(dirname(process.execPath)), 'lib/node_modules/npm');
  const files = [...programs, ...libraries, npm, '/etc/ssl/certs', '/etc/resolv.conf', '/etc/hosts'];
  for (const folder of ['proc', 'sys', 'dev/shm', 'tmp', 'root', 'usr/bin'])
    await mkdir(join(root, folder), { recursive: true });
  await exec('ln', ['-s', 'usr/bin', join(root, 'bin')]);
  await exec('cp', ['-rL', '--parents', ...new Set(files), root]);
  await exec('ln', ['-s', join(npm, 'bin/npm-cli.js'), join(root, 'usr/bin/npm')]);
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n');
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
  for (const [name, minor] of Object.entries({ null: '3', urandom: '9' }))
    await exec('mknod', ['-m', '666', join(root, 'dev', name), 'c', '1', minor]);
  await chmod(join(root, 'tmp'), 0o1777);
}

/** Builds the image with Buildah, on a base image made from this machine. The storage is in `temp`. */
export async function buildWithBuildah(temp: string): Promise<Image> {
  const storage = ['--root', join(temp, 'storage'), '--runroot', join(temp, 'run')];
  const buildah = async (...args: string[]) =>
    (
      await exec('buildah', [...storage, '--storage-driver', 'vfs', ...args], { maxBuffer: 1e8 })
    ).stdout.trim();
  const [, base] = /^FROM (\S+) AS build$/m.exec(await readFile(containerfile, 'utf8'))!;
  await buildah('from', '--name', 'base', 'scratch');
  await makeBase(await buildah('mount', 'base'));
  for (const [name, value] of Object.entries({ PATH: '/usr/bin:/bin', ...networkEnv }))
    await buildah('config', '--env', `${name}=${value}`, 'base');
  await buildah('commit', '--rm', 'base', base!);
  const cache = existsSync(packages) ? ['--volume', `${packages}:/root/.npm`] : [];
  const how = ['--pull-never', '--isolation', 'chroot', '--network', 'host', '--format', 'docker', ...cache];
  await buildah('build', ...how, '--file', containerfile, '--tag', 'lanyard', checkout);
  await buildah('from', '--name', 'run', '--pull-never', 'lanyard');
  const { Docker } = JSON.parse(await buildah('inspect', 'run')) as {
    Docker: {
      config: {
        User: string;
        Env: string[];
        Cmd: string[];
        WorkingDir: string;
        Healthcheck: { Test: string[] };
      };
    };
  };
  const { User, Env, Cmd, WorkingDir, Healthcheck } = Docker.config;
  return {
    root: await buildah('mount', 'run'),
    folder: WorkingDir,
    env: Object.fromEntries(Env.map((pair) => pair.split(/=(.*)/s) as [string, string])),
    user: User,
    command: Cmd,
    healthCheck: Healthcheck.Test.slice(1),
  };
}

/**
 * Runs the steps of the Containerfile without a container engine, each stage in an empty folder that becomes its root.
 * `args` are those of `--build-arg`.
 */
export async function buildByHand(temp: string, args: Record<string, string> = {}): Promise<Image> {
  let before = '';
  let image: Image | undefined;
  for (const line of (await readFile(containerfile, 'utf8')).split('\n')) {
    // the Containerfile has no continued lines
    const [, word, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (word === 'FROM') {
      before = image?.root ?? '';
      const root = join(temp, before ? 'image' : 'build');
      image = {
        root,
        folder: '/',
        env: { PATH: '/usr/bin:/bin' },
        user: '0:0',
        command: [],
        healthCheck: [],
      };
      await mkdir(root);
      await makeBase(root);
    } else if (word) await runInstruction(word, rest!, { image: image!, before, args });
    else assert(!line || line.startsWith('#'), `Unsupported line in the Containerfile: ${line}`);
  }
  return image!;
}

async function runInstruction(
  word: string,
  rest: string,
  { image, before, args }: { image: Image; before: string; args: Record<string, string> },
): Promise<void> {
  const list = () => JSON.parse(rest.slice(rest.indexOf('['))) as string[];
  if (word === 'ENV' || word === 'ARG')
    for (const pair of rest.split(' ')) {
      const [name, value] = pair.split('=');
      image.env[name!] = (word === 'ARG' && args[name!]) || value!;
    }
  else if (word === 'WORKDIR') {
    image.folder = rest;
    await mkdir(join(image.root, rest), { recursive: true });
  } else if (word === 'USER') image.user = rest;
  else if (word === 'COPY') await copy(rest, image, before);
  else if (word === 'RUN') await runIn(image, rest);
  else if (word === 'HEALTHCHECK') image.healthCheck = list();
  else if (word === 'CMD') image.command = list();
  else assert(['VOLUME', 'EXPOSE'].includes(word), `Unsupported instruction in the Containerfile: ${word}`);
}

async function copy(rest: string, { root, folder }: Image, before: string): Promise<void> {
  const words = rest.split(' ');
  const from = words[0]!.startsWith('--from=') ? before : checkout;
  const [target, ...sources] = words.filter((one) => !one.startsWith('--')).toReversed();
  for (const source of sources) {
    const name = target!.endsWith('/') ? source.split('/').at(-1)! : '';
    const to = join(root, folder, target!, name);
    await cp(join(from, source), to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  }
}

async function runIn({ root, folder, env }: Image, command: string): Promise<void> {
  const steps = [`mount -t proc proc ${root}/proc`];
  if (existsSync(packages))
    steps.push(`mkdir -p ${root}/root/.npm`, `mount --bind ${quoted(packages)} ${root}/root/.npm`);
  const inside = withSettings({ HOME: '/root', ...networkEnv, ...env }, [
    'sh',
    '-c',
    `cd ${folder} && ${command}`,
  ]);
  const script = [...steps, `exec chroot ${root} ${inside}`].join(' && ');
  await exec('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', script], { maxBuffer: 1e8 });
}
