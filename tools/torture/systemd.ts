import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeLicense } from '../../tests/factories.ts';
import { eventually } from '../../tests/harness.ts';
import {
  administrator,
  familyOf,
  freePort,
  isReady,
  signal,
  signInAdministrator,
} from '../../tests/server-process.ts';

const exec = promisify(execFile);
const manager = '/lib/systemd/systemd';
const cgroups = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((folder) =>
  existsSync(join(folder, 'cgroup.controllers')),
);

/** False if systemd is not installed, or control groups cannot be created. */
export const hasSystemd = process.getuid?.() === 0 && existsSync(manager) && cgroups !== undefined;

/**
 * Boots systemd as process 1 on an overlay of this machine's file system, whose changes stay in memory, with no unit but
 * ours. Only the port is visible outside. `group` is its control group.
 */
const bootScript = (root: string, group: string, settings: string): string => `
set -e
echo $$ > ${group}/cgroup.procs
exec unshare --mount --pid --fork --uts --ipc --cgroup --kill-child sh -c '
  set -e
  mount --make-rprivate /
  mount -t tmpfs tmpfs ${root}
  mkdir ${root}/upper ${root}/work ${root}/top
  mount -t overlay overlay -o lowerdir=/,upperdir=${root}/upper,workdir=${root}/work ${root}/top
  cd ${root}/top
  rm -rf etc/systemd/system/* run/* opt/lanyard var/lib/lanyard
  mkdir -p opt/lanyard/dist opt/lanyard/node_modules old
  cp ${process.cwd()}/deploy/lanyard.service etc/systemd/system/
  cp ${process.cwd()}/package.json opt/lanyard/
  mount --bind ${process.cwd()}/dist opt/lanyard/dist
  mount --bind ${process.cwd()}/node_modules opt/lanyard/node_modules
  grep -q ^lanyard: etc/passwd || chroot . useradd --system --home-dir /var/lib/lanyard --shell /usr/sbin/nologin lanyard
  cp ${settings} etc/lanyard.env
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  for folder in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $folder; done
  chmod 1777 tmp
  for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
  mkdir dev/shm dev/pts
  mount -t tmpfs tmpfs dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  pivot_root . old
  umount -l /old
  exec /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin ${manager} --unit=lanyard.service
'`;

/** The unit under a real systemd, with the embedded database: it works within its limits, and stops cleanly. */
export async function systemd(): Promise<void> {
  const temp = await mkdtemp(join(tmpdir(), 'lanyard-systemd-'));
  const root = join(temp, 'root');
  await mkdir(root);
  const port = await freePort();
  const group = join(cgroups!, `lanyard-test-${port}`);
  await mkdir(group);
  const settings = join(temp, 'settings');
  const { email, password } = administrator;
  await writeFile(settings, `PORT=${port}\nADMIN_EMAIL=${email}\nADMIN_PASSWORD=${password}\n`);
  const child = spawn('sh', ['-c', bootScript(root, group, settings)]);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const command = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const find = (program: string) => familyOf(child.pid!).find((pid) => command(pid).includes(program));
  const inside = async (...words: string[]) => {
    const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd'];
    return (await exec('nsenter', [`--target=${find(manager)}`, ...namespaces, ...words])).stdout;
  };
  const journal = () => inside('journalctl', '--unit=lanyard', '--output=cat', '--no-pager');
  try {
    const url = `http://127.0.0.1:${port}`;
    await eventually(() => isReady(url), 60_000).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${said}\n${await journal()}`);
    });
    // uses the threads for passwords, and writes to the database
    await makeLicense(await signInAdministrator({ url }));
    const status = readFileSync(`/proc/${find('dist/server/main.js')}/status`, 'utf8');
    assert.doesNotMatch(status, /^Uid:.*\t0\t/m);
    for (const line of [/^CapEff:\t0+$/m, /^CapBnd:\t0+$/m, /^NoNewPrivs:\t1$/m, /^Seccomp:\t2$/m])
      assert.match(status, line);

    await inside('systemctl', 'stop', 'lanyard');
    const result = await inside('systemctl', 'show', 'lanyard', '--property=Result,ExecMainStatus,NRestarts');
    assert.equal(result, 'Result=success\nNRestarts=0\nExecMainStatus=0\n', await journal());
    const end = (await journal()).split('"Stopping')[1];
    assert.doesNotMatch(end ?? '', /"level":[4-9]0|was lost|had stopped/);
  } finally {
    for (const pid of familyOf(child.pid!).toReversed()) signal(pid, 'SIGKILL');
    await ended;
    // cannot be removed until its last process has exited
    await eventually(async () => {
      await exec('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
      assert(!existsSync(group));
    }, 20_000);
    await rm(temp, { recursive: true, force: true });
  }
}
