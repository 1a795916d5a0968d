import os from 'node:os';
import { check } from './check.ts';
import type { Files } from './durable.ts';
import { giveBack } from './give-back.ts';
import { createHttp } from './http.ts';
import { openSecrets } from './identity.ts';
import { keysOf, openKeyRing } from './keys.ts';
import { canonicalKey } from './license-key.ts';
import { readMachineId } from './machine-id.ts';
import { importLicense, offlineRequest } from './offline.ts';
import { beginTimes, type Parts } from './parts.ts';
import { plainText } from './plain-text.ts';
import { createStore, filesOfMachine } from './store.ts';
import { connectUpdater } from './updates.ts';
import type { Client, ClientOptions, Facts } from './types.ts';

/** What tests replace. */
export type Replaced = { files?: Files; random?: () => number; env?: Record<string, string | undefined> };

/** The most characters that the server takes. */
const longest: Record<keyof Facts, number> = {
  hostname: 253,
  platform: 50,
  architecture: 50,
  osVersion: 100,
  appVersion: 100,
};

/** A timer of Node ends at once if it should take longer. */
const longestTimer = 2 ** 31 - 1;

const thisComputer = new Set(['localhost', '127.0.0.1', '[::1]']);

/** `createClient` with parts that tests replace. */
export function assemble(options: ClientOptions, replaced: Replaced = {}): Client {
  const parts = partsOf(options, replaced);
  return {
    check: () => check(parts),
    offlineRequest: () => offlineRequest(parts),
    importLicense: (text) => importLicense(parts, text),
    giveBack: () => giveBack(parts),
    machineId: () => parts.machineId(),
    connectUpdater: (autoUpdater, updaterOptions) => connectUpdater(parts, autoUpdater, updaterOptions),
  };
}

function partsOf(
  options: ClientOptions,
  { files, random = Math.random, env = process.env }: Replaced,
): Parts {
  const { server, folder, publicKeys, fetch, protect, timeoutMs = 10_000, now = () => new Date() } = options;
  if (!/^https?:\/\/./i.test(server) || !URL.canParse(server))
    throw new TypeError('server: not an http address');
  const { protocol, hostname, origin } = new URL(server);
  if (protocol !== 'https:' && !thisComputer.has(hostname))
    throw new TypeError('server: must be https, since the license key and the token are sent to it');
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > longestTimer)
    throw new TypeError(`timeoutMs: not a whole number of milliseconds from 1 to ${longestTimer}`);
  if (!folder) throw new TypeError('folder: missing');
  if (publicKeys.length === 0) throw new TypeError('publicKeys: at least one is needed to verify answers');
  // longer texts get no answer, and are no keys either way
  const licenseKey = plainText(canonicalKey(options.licenseKey), 256);
  const all = createStore(folder, files);
  const http = createHttp(server, { fetch, timeoutMs, env });
  let known: Promise<string> | undefined;
  // trimmed here as the service does: hashes and signatures are over the same text
  const machineId = () =>
    (known ??=
      options.machineId === undefined ? readMachineId(all) : Promise.resolve(options.machineId.trim()));
  const store = filesOfMachine(all, machineId);
  const beforeNew = () => beginTimes({ store, licenseKey });
  return {
    server,
    licenseKey,
    facts: factsOf(options.facts),
    timeoutMs,
    store,
    http,
    keys: openKeyRing(keysOf(publicKeys), all, http),
    secrets: openSecrets(store, protect, { origin, licenseKey, beforeNew }),
    machineId,
    now,
    random,
  };
}

function factsOf(given: Facts = {}): Facts {
  const facts: Facts = {
    hostname: os.hostname(),
    platform: process.platform,
    architecture: process.arch,
    osVersion: os.release(),
    ...given,
  };
  const entries = Object.entries(facts) as [keyof Facts, string | undefined][];
  return Object.fromEntries(
    entries
      .map(([name, text]) => [name, plainText(text ?? '', longest[name])])
      .filter(([, text]) => text !== ''),
  );
}
