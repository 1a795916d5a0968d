import { randomUUID } from 'node:crypto';
import { dataOf } from './ask.ts';
import { isObject, jsonObject, signJws } from './jws.ts';
import { evaluateKept } from './evaluate-kept.ts';
import { machineHash, readLicenseFile, type FileFault, type LicenseFile } from './license-file.ts';
import { messages } from './messages.ts';
import { areTimesGone, keepAnswer, readTimes, writeTimes, type Parts } from './parts.ts';
import type { GiveBackResult, ImportResult, OfflineRequest, Refused } from './types.ts';

const licenseFile = 'license.jws';
const receiptFile = 'receipt.json';

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

/**
 * A text that staff make a license file from. It names the machine and its public key, and is signed by the machine.
 * Where the record of times is gone, with a new key: license files for the old one never count again.
 */
export function offlineRequest(parts: Parts): Promise<OfflineRequest> {
  return parts.store.lock(parts.timeoutMs, async () => {
    if (await areTimesGone(parts)) await parts.secrets.forgetIdentity();
    const identity = await parts.secrets.identity();
    if ('problem' in identity) return noKey(identity.problem);
    const request = signJws(identity.privateKey, 'lanyard-request+jwt', {
      sub: parts.licenseKey,
      machineId: await parts.machineId(),
      key: identity.publicKey,
      iat: seconds(parts.now()),
      jti: randomUUID(),
      ...parts.facts,
    });
    return { ok: true, request };
  });
}

const faults: Record<FileFault, string> = {
  UNREADABLE: 'This is not a license file. Copy it again, as a whole.',
  UNKNOWN_KEY: 'This license file is signed by a key that this program does not know.',
  BAD_SIGNATURE: 'This license file was changed on its way. Copy it again.',
  OTHER_MACHINE: 'This license file is for another machine.',
  OTHER_LICENSE: 'This license file is for another license key.',
  OTHER_MACHINE_KEY: 'This license file is for another request. Make a new request on this machine.',
};

/** Takes a license file into use if it is for this machine and license and valid now. */
export function importLicense(parts: Parts, text: string): Promise<ImportResult> {
  return parts.store.lock(parts.timeoutMs, async () => {
    const file = await readFor(parts, text);
    if (typeof file === 'string') return refused(file, faults[file]);
    if ('problem' in file) return noKey(file.problem);
    if (await isGivenBack(parts, file)) return refused('GIVEN_BACK', 'This license file was given back.');
    const own = await readOwnFile(parts);
    if (own && own.issuedAt > file.issuedAt)
      return refused('SUPERSEDED', 'This machine has a newer license file.');
    const times = await readTimes(parts);
    // the time seen stays: staff may have made this file long before it, and it says nothing about the time since
    const known = times && { ...times, signed: Math.max(times.signed, file.issuedAt) };
    const now = parts.now().getTime();
    const { valid, code, message, modules, expiresAt } = evaluateKept({
      now,
      times: known,
      decision: undefined,
      file,
    });
    if (code === 'NO_ANSWER')
      return refused('SUPERSEDED', 'The license server has refused this license since.');
    if (!valid || expiresAt === null || !known) return refused(code, message);
    const problem = (await parts.store.write(licenseFile, text.trim())) ?? (await writeTimes(parts, known));
    if (problem !== undefined) return refused('NOT_STORED', problem);
    return { ok: true, expiresAt: new Date(expiresAt).toISOString(), modules };
  });
}

/**
 * Gives the seat back. With a license file: the file no longer counts from now on, and the receipt is for the vendor;
 * called again, it returns the same receipt. Otherwise the server frees the seat.
 */
export function giveBack(parts: Parts): Promise<GiveBackResult> {
  return parts.store.lock(parts.timeoutMs, async () => {
    const file = await readOwnFile(parts);
    if (file) return giveFileBack(parts, file);
    const token = await parts.secrets.token();
    if (token !== undefined) return giveSeatBack(parts, token);
    const receipt = (await lastReturn(parts))?.receipt;
    return receipt === undefined
      ? { ok: true, receipt: null, message: 'This machine holds no seat.' }
      : given(receipt);
  });
}

async function giveFileBack(parts: Parts, { jti, issuedAt }: LicenseFile): Promise<GiveBackResult> {
  const identity = await parts.secrets.identity();
  if ('problem' in identity) return noKey(identity.problem);
  const receipt = signJws(identity.privateKey, 'lanyard-return+jwt', {
    sub: parts.licenseKey,
    jti,
    machine: machineHash(await parts.machineId()),
    iat: seconds(parts.now()),
  });
  // Stored before it is told: this one step ends the file and keeps the receipt. After a crash, both hold or neither.
  const returns = { ...(await readReturns(parts)), [parts.licenseKey]: { issuedAt, receipt } };
  const problem = await parts.store.write(receiptFile, JSON.stringify(returns));
  if (problem !== undefined) return refused('NOT_STORED', problem);
  await parts.store.remove(licenseFile);
  await endWhatWasSigned(parts, issuedAt);
  await parts.secrets.setToken(undefined);
  return given(receipt);
}

const given = (receipt: string): GiveBackResult => ({
  ok: true,
  receipt,
  message:
    'The license has ended on this machine. Give the receipt to the vendor, who frees the seat with it.',
});

/**
 * Lets nothing count that was signed before, such as a file that is put back when its receipt is gone. License files
 * count whole seconds. Returns the problem if the kept answer stays.
 */
async function endWhatWasSigned(parts: Parts, fileIssuedAt = 0): Promise<string | undefined> {
  const times = await readTimes(parts);
  if (times) {
    const last = Math.max(times.refused, times.signed + 1, fileIssuedAt + 1000);
    await writeTimes(parts, { ...times, refused: last });
  }
  return keepAnswer(parts, undefined);
}

async function giveSeatBack(parts: Parts, token: string): Promise<GiveBackResult> {
  // first: an answer that gets lost must not leave a freed seat in use here
  const problem = await endWhatWasSigned(parts);
  if (problem !== undefined) return refused('NOT_STORED', problem);
  const { licenseKey } = parts;
  const reply = await parts.http('POST', '/api/licenses/deactivate', {
    headers: { 'x-machine-token': token },
    body: { licenseKey, machineId: await parts.machineId() },
  });
  if ('problem' in reply) return refused('NO_ANSWER', messages.NO_ANSWER, reply.problem);
  const { released, code, message } = dataOf(reply) ?? {};
  // 401: the token ended, and it ends with the seat
  if (released === true || code === 'NO_SEAT' || reply.status === 401) {
    await parts.secrets.setToken(undefined);
    return {
      ok: true,
      receipt: null,
      message: typeof message === 'string' ? message : 'The seat is free again.',
    };
  }
  const why = typeof message === 'string' ? message : messages.NO_ANSWER;
  return refused(typeof code === 'string' ? code : 'NO_ANSWER', why, `The server answered ${reply.status}.`);
}

/** The license file in the folder, verified; undefined if there is none, or it was given back, or it does not count. */
export async function readOwnFile(parts: Parts): Promise<LicenseFile | undefined> {
  const text = await parts.store.read(licenseFile);
  const file = text === undefined ? undefined : await readFor(parts, text);
  if (file === undefined || typeof file === 'string' || 'problem' in file) return undefined;
  return (await isGivenBack(parts, file)) ? undefined : file;
}

async function readFor(parts: Parts, text: string): Promise<LicenseFile | FileFault | { problem: string }> {
  const identity = await parts.secrets.identity();
  if ('problem' in identity) return identity;
  const { licenseKey } = parts;
  const holder = { licenseKey, machineId: await parts.machineId(), publicKey: identity.publicKey };
  return readLicenseFile(text, parts.keys, holder);
}

/** Whether a file was given back, or is older than one that was: the seat that it stood for is free. */
async function isGivenBack(parts: Parts, { issuedAt }: LicenseFile): Promise<boolean> {
  const last = await lastReturn(parts);
  return last !== undefined && issuedAt <= last.issuedAt;
}

const readReturns = async ({ store }: Parts) => jsonObject(await store.read(receiptFile)) ?? {};

/** The file of this license that was given back last, and its receipt. Each license that used the folder has its own. */
async function lastReturn(parts: Parts): Promise<{ issuedAt: number; receipt: string } | undefined> {
  const last = (await readReturns(parts))[parts.licenseKey];
  const { issuedAt, receipt } = isObject(last) ? last : {};
  return typeof issuedAt === 'number' && typeof receipt === 'string' ? { issuedAt, receipt } : undefined;
}

function refused(code: string, message: string, problem?: string): Refused {
  return { ok: false, code, message, ...(problem === undefined ? {} : { problem }) };
}

const noKey = (problem: string): Refused => refused('NO_MACHINE_KEY', messages.NO_MACHINE_KEY, problem);
