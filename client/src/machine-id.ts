import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './store.ts';

/** The parts of the operating system that know the machine; replaced in tests. */
export type System = {
  platform: string;
  hostname: string;
  readFile: (file: string) => Promise<string>;
  run: (program: string, ...args: string[]) => Promise<string>;
};

const system: System = {
  platform: process.platform,
  hostname: hostname(),
  readFile: (file) => readFile(file, 'utf8'),
  run: (program, ...args) =>
    new Promise((resolve, reject) => {
      const options = { timeout: 5000, windowsHide: true };
      execFile(program, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    }),
};

const file = 'machine-id';

/**
 * A stable id of the machine: a hash, so that the id of the operating system stays on the machine. Kept in the folder
 * for a start at which the operating system does not say it; a random one if it never did.
 *
 * An id of the system is kept with the host name, and counts without the system only under that name: a workstation
 * must not stop because `ioreg` or `reg` failed once, and a folder that was copied to another computer must not make
 * that computer the first one as soon as its system is silent.
 */
export async function readMachineId(store: Store, of: System = system): Promise<string> {
  const [own, found] = await Promise.all([systemId(of), store.read(file)]);
  const id = own && createHash('sha256').update(`lanyard machine ${own}`).digest('hex').slice(0, 32);
  if (id) {
    const content = `${id} ${of.hostname}`;
    if (content !== found) await store.write(file, content);
    return id;
  }
  let kept = found;
  // a virus scanner may hold it for a moment; with another id, this would be another machine that takes a seat
  for (let tries = 0; kept === undefined && tries < 10 && (await store.has(file)); tries++) {
    await sleep(20 * tries);
    kept = await store.read(file);
  }
  const [, keptId, host] = /^([\da-f]{32})(?: (.*))?$/.exec(kept ?? '') ?? [];
  if (keptId && (host === undefined || host === of.hostname)) return keptId;
  const random = randomUUID().replaceAll('-', '');
  const created = kept === undefined ? await store.create(file, random) : await store.write(file, random);
  return (created === 'exists' && (await store.read(file))) || random;
}

/** The id that the operating system gave the machine when it was installed. None needs administrator rights. */
async function systemId({ platform, readFile: read, run }: System): Promise<string | undefined> {
  try {
    if (platform === 'win32') {
      // not by %SystemRoot%, which whoever starts the program can set
      const reg = String.raw`C:\Windows\System32\reg.exe`;
      const key = String.raw`HKLM\SOFTWARE\Microsoft\Cryptography`;
      return idIn(
        await run(reg, 'query', key, '/v', 'MachineGuid', '/reg:64'),
        /MachineGuid\s+REG_SZ\s+(\S+)/,
      );
    }
    if (platform === 'darwin')
      return idIn(
        await run('/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice'),
        /"IOPlatformUUID"\s*=\s*"([^"]+)"/,
      );
    return idIn(
      await read('/etc/machine-id').catch(() => read('/var/lib/dbus/machine-id')),
      /^([\da-f]{32})\s*$/i,
    );
  } catch {
    return undefined;
  }
}

const idIn = (text: string, pattern: RegExp) => pattern.exec(text)?.[1]?.toLowerCase();
