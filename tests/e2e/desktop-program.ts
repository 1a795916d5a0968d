import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keys } from '../../contract/keys.ts';
import type { License } from '../../contract/licenses.ts';
import { expect, test, type ConsoleServer } from './support.ts';

/** The program of `client/example`, running in a terminal of its own. */
export type Program = {
  /** What it said before it asked the first time. */
  greeting: string;
  /** Types a line, and returns what the program says until it asks again. */
  type(line: string): Promise<string>;
  quit(): Promise<void>;
};

const script = join(import.meta.dirname, '../../client/example/desktop.mjs');
/** The questions after which the program waits for a line. */
const asks = /(?:, quit|name of a file): $/;

/** The machine of a hospital that reaches no server; each call starts its program. */
export async function hospitalMachine(server: ConsoleServer, { licenseKey }: License) {
  const place = test.info().outputPath('hospital');
  await mkdir(place, { recursive: true });
  const keyFile = join(place, 'keys.json');
  await writeFile(keyFile, JSON.stringify({ data: await server.api().ok(keys.published) }));
  const license = ['--server', server.url, '--license', licenseKey, '--keys', keyFile, '--offline'];
  return (machineId: string, ...options: string[]): Promise<Program> =>
    startProgram([...license, '--machine', machineId, '--folder', join(place, machineId), ...options]);
}

async function startProgram(args: string[]): Promise<Program> {
  const child = spawn(process.execPath, [script, ...args], { stdio: 'pipe' });
  const closed = once(child, 'close');
  const untilAsked = listenTo(child);
  return {
    greeting: await untilAsked(),
    type(line) {
      child.stdin.write(`${line}\n`);
      return untilAsked();
    },
    async quit() {
      child.stdin.write('quit\n');
      expect(await closed).toEqual([0, null]);
    },
  };
}

function listenTo({ stdout, stderr }: ChildProcess) {
  let said = '';
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return async () => {
    await expect.poll(() => said).toMatch(asks);
    const text = said;
    said = '';
    return text.replace(/.*$/, '').trim();
  };
}

/** The signed text that the program shows below its QR code. */
export const shownText = (said: string) => said.split('\n').at(-1)!;
