// A program that behaves like a desktop: `node desktop.mjs --help`. It uses only what the package exports.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createClient } from '@lanyard/client';
import { encodeQR } from 'qr';
import { createUpdater } from './updater.mjs';

const help = `node desktop.mjs --server URL --license KEY --keys FILE [--folder FOLDER] [COMMAND]

  --keys       the public keys that the program ships: curl -s URL/api/v1/keys > FILE
  --folder     where the program keeps its state (default: desktop-data)
  --machine    another machine than this one
  --offline    behaves as without a network
  --clock      behaves as if it were this time, such as 2026-12-24T18:00:00Z

  check        asks whether the program may run
  request      shows a request for a license file, as text and as a QR code
  import FILE  takes a license file into use
  give-back    gives the seat of this machine back
  update       checks for an update, downloads and installs it

Without a command, it asks what to do.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string', default: 'http://localhost:8080' },
    license: { type: 'string' },
    keys: { type: 'string' },
    folder: { type: 'string', default: 'desktop-data' },
    machine: { type: 'string' },
    clock: { type: 'string' },
    offline: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help || !values.license || !values.keys) {
  console.log(help);
  process.exit(values.help ? 0 : 1);
}

mkdirSync(values.folder, { recursive: true });
const versionFile = join(values.folder, 'version');
const version = read(versionFile) ?? '1.0.0';
const client = createClient({
  server: values.server,
  licenseKey: values.license,
  publicKeys: JSON.parse(readFileSync(values.keys, 'utf8')).data.map((key) => key.publicKeyPem),
  folder: values.folder,
  machineId: values.machine,
  facts: { appVersion: version },
  ...(values.offline ? { fetch: () => Promise.reject(new Error('no network')) } : {}),
  ...(values.clock ? { now: () => new Date(values.clock) } : {}),
});

const updater = createUpdater(version, (next) => writeFileSync(versionFile, next));
// connected at each start: what became of the last update is told now
const updates = client.connectUpdater(updater);

const commands = {
  async check() {
    const { valid, source, code, message, modules, expiresAt } = await client.check();
    console.log(`${valid ? 'VALID' : 'NOT VALID'} (${source}, ${code}): ${message}`);
    if (valid) console.log(`modules ${modules.join(', ') || 'none'}; without the server until ${expiresAt}`);
    return valid;
  },
  async request() {
    const result = await client.offlineRequest();
    console.log(result.ok ? `${codeOf(result.request)}\n\n${result.request}` : result.message);
    return result.ok;
  },
  async import(file) {
    const text = file ?? (await ask('The license file, as text or as the name of a file: '));
    const result = await client.importLicense(read(text) ?? text ?? '');
    console.log(result.ok ? `Licensed until ${result.expiresAt}.` : result.message);
    return result.ok;
  },
  async 'give-back'() {
    const result = await client.giveBack();
    console.log(result.message);
    if (result.ok && result.receipt) console.log(`${codeOf(result.receipt)}\n\n${result.receipt}`);
    return result.ok;
  },
  async update() {
    // the token of the machine comes with a check
    await commands.check();
    const offer = await updater.checkForUpdates().catch((error) => console.log(error.message));
    if (!offer) {
      console.log(`${version} is the newest version for this machine.`);
      return true;
    }
    console.log(`${offer.version} is there, and is downloaded.`);
    await updater.downloadUpdate();
    updater.quitAndInstall();
    console.log('Installed. Start again.');
    await quit(true);
  },
};

/** A text as a QR code for the terminal. */
const codeOf = (text) => encodeQR(text, 'ascii', { ecc: 'low', border: 2 });

let lines;
/** What the person types; undefined at the end of the input. */
async function ask(question) {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  process.stdout.write(question);
  return (await lines.next()).value?.trim();
}

function read(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

async function quit(ok) {
  await updates.deliver();
  await updates.stop();
  process.exit(ok ? 0 : 1);
}

const [command, argument] = positionals;
if (command) {
  if (!Object.hasOwn(commands, command)) {
    console.log(help);
    process.exit(1);
  }
  await quit(await commands[command](argument));
}

console.log(`Version ${version} on machine ${await client.machineId()}`);
await commands.check();
for (;;) {
  const answer = await ask(`\n${Object.keys(commands).join(', ')}, quit: `);
  if (answer === undefined || answer === 'quit') await quit(true);
  if (Object.hasOwn(commands, answer)) await commands[answer]();
}
