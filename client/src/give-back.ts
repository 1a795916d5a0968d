import { dataOf, enroll, errorIn, type Undecided } from './ask.ts';
import type { NoReply, Reply } from './http.ts';
import { jsonObject, signJws, wholeSeconds } from './jws.ts';
import { machineHash, type LicenseFile } from './license-file.ts';
import { messages } from './messages.ts';
import { ownFileHeld, readOwnFile, removeOwnFile } from './own-file.ts';
import { keepAnswer, readKeptAnswer, readTimes, writeTimes, type Parts } from './parts.ts';
import { noKey, refused, unlessBusy } from './refused.ts';
import { keepReturn, lastReturn, receiptsHeld } from './returns.ts';
import type { GiveBackResult } from './types.ts';

/**
 * Gives the seat back. With a license file: the file no longer counts from now on, and the receipt is for the vendor;
 * called again, it returns the same receipt. Otherwise the server frees the seat, also one that the machine took online
 * after its file had ended.
 */
export function giveBack(parts: Parts): Promise<GiveBackResult> {
  return unlessBusy(parts, async () => {
    await finishGivingBack(parts);
    // without its files, a machine with a seat or a license file looks like one that has neither
    const locked = await parts.secrets.unreadable();
    if (locked !== undefined) return noKey(locked);
    const held = (await receiptsHeld(parts)) ?? (await ownFileHeld(parts));
    if (held !== undefined) return refused('NOT_STORED', held);
    const file = await readOwnFile(parts);
    const token = await parts.secrets.token();
    const hasToken = token !== undefined || (await parts.secrets.hasToken());
    if (file && !(hasToken && isEnded(parts, file))) return giveFileBack(parts, file);
    if (hasToken) {
      const result = await giveSeatBack(parts, token);
      // only the clock of this machine says that the file has ended
      return file && !result.ok && result.code === 'OFFLINE_SEAT' ? giveFileBack(parts, file) : result;
    }
    const receipt = (await lastReturn(parts))?.receipt;
    return receipt === undefined
      ? { ok: true, receipt: null, message: 'This machine holds no seat.' }
      : given(receipt);
  });
}

const isEnded = (parts: Parts, { endsAt, graceMs }: LicenseFile) => parts.now().getTime() > endsAt + graceMs;

async function giveFileBack(parts: Parts, { jti, issuedAt }: LicenseFile): Promise<GiveBackResult> {
  const identity = await parts.secrets.identity();
  if ('problem' in identity) return noKey(identity.problem);
  const receipt = signJws(identity.privateKey, 'lanyard-return+jwt', {
    sub: parts.licenseKey,
    jti,
    machine: machineHash(await parts.machineId()),
    iat: wholeSeconds(parts.now()),
  });
  // Stored before it is told: this one step ends the file and keeps the receipt. After a crash, both hold or neither.
  const problem = await keepReturn(parts, { issuedAt, receipt, unfinished: true });
  if (problem !== undefined) return refused('NOT_STORED', problem);
  await finishGivingBack(parts);
  return given(receipt);
}

/**
 * Ends what the seat left behind that a file stood for, also where the program was killed after it made the receipt: the
 * receipt frees the seat that the token and the kept answer are of.
 */
export async function finishGivingBack(parts: Parts): Promise<void> {
  const last = await lastReturn(parts);
  if (!last?.unfinished) return;
  await removeOwnFile(parts);
  await endWhatWasSigned(parts, last.issuedAt);
  await parts.secrets.setToken(undefined);
  await keepReturn(parts, { ...last, unfinished: false });
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
    // it always moves, so that a check on its way sees it
    const last = Math.max(times.refused + 1, times.signed + 1, fileIssuedAt + 1000);
    await writeTimes(parts, { ...times, refused: last });
  }
  return keepAnswer(parts, undefined);
}

async function giveSeatBack(parts: Parts, token: string | undefined): Promise<GiveBackResult> {
  // not where a check has kept an answer since then: the seat is still in use
  const mayBeFree = unanswered.get(parts) === token && !(await readKeptAnswer(parts));
  // first: an answer that gets lost must not leave a freed seat in use here
  const problem = await endWhatWasSigned(parts);
  if (problem !== undefined) return refused('NOT_STORED', problem);
  if (token !== undefined) {
    const reply = await release(parts, token);
    if ('problem' in reply || reply.status !== 401) return outcomeOf(parts, reply);
    // To enroll would take the seat again, and the releases of a day are limited. A hotel's page has no such code.
    if (mayBeFree && jsonObject(reply.text)?.['code'] === 'UNAUTHENTICATED') return seatFreed(parts);
  }
  // The token has ended, which says nothing of the seat: staff end tokens alone, and a revoked license keeps its seats.
  const { decision, ...undecided } = await enroll(parts);
  if (!decision) {
    const { code, message = messages[code], problem: why } = undecided as Undecided;
    return refused(code, message, why);
  }
  const next = decision.valid ? await parts.secrets.token() : undefined;
  if (next !== undefined) return outcomeOf(parts, await release(parts, next));
  return decision.holdsSeat ? refused(decision.code, decision.message) : seatFreed(parts);
}

/** The tokens with which seats were released without an answer: they have ended if the server heard it. */
const unanswered = new WeakMap<Parts, string>();

async function release(parts: Parts, token: string): Promise<Reply | NoReply> {
  const reply = await parts.http('POST', '/api/licenses/deactivate', {
    headers: { 'x-machine-token': token },
    body: { licenseKey: parts.licenseKey, machineId: await parts.machineId() },
  });
  if ('problem' in reply || reply.status >= 500) unanswered.set(parts, token);
  return reply;
}

async function outcomeOf(parts: Parts, reply: Reply | NoReply): Promise<GiveBackResult> {
  if ('problem' in reply) return refused('NO_ANSWER', messages.NO_ANSWER, reply.problem);
  const { released, code, message } = dataOf(reply) ?? {};
  const said = typeof message === 'string' ? message : errorIn(reply);
  if (released === true || code === 'NO_SEAT') return seatFreed(parts, said);
  const answered = `The server answered ${reply.status}.`;
  return refused(typeof code === 'string' ? code : 'NO_ANSWER', said ?? messages.NO_ANSWER, answered);
}

async function seatFreed(parts: Parts, message = 'The seat is free again.'): Promise<GiveBackResult> {
  // first: without the token, an ended file would be given back next
  await removeOwnFile(parts);
  await parts.secrets.setToken(undefined);
  return { ok: true, receipt: null, message };
}
