import { randomUUID } from 'node:crypto';
import { aheadMs, keptDecision } from './check.ts';
import { dateOf, evaluateKept, type Times } from './evaluate-kept.ts';
import { finishGivingBack } from './give-back.ts';
import { signJws, wholeSeconds } from './jws.ts';
import type { FileFault, LicenseFile } from './license-file.ts';
import { givenBack, keepOwnFile, readFor, readOwnFile } from './own-file.ts';
import {
  areTimesGone,
  keepAnswer,
  keepRequest,
  openRequest,
  readTimes,
  writeTimes,
  type Parts,
} from './parts.ts';
import { noKey, refused, unlessBusy } from './refused.ts';
import type { ImportResult, OfflineRequest } from './types.ts';

/**
 * A text that staff make a license file from. It names the machine and its public key, and is signed by the machine.
 * Where the record of times is gone, with a new key: license files for the old one never count again.
 */
export function offlineRequest(parts: Parts): Promise<OfflineRequest> {
  return unlessBusy(parts, async () => {
    if (await areTimesGone(parts)) await parts.secrets.forgetIdentity();
    const identity = await parts.secrets.identity();
    if ('problem' in identity) return noKey(identity.problem);
    const request = signJws(identity.privateKey, 'lanyard-request+jwt', {
      sub: parts.licenseKey,
      machineId: await parts.machineId(),
      key: identity.publicKey,
      iat: wholeSeconds(parts.now()),
      jti: await requestId(parts),
      ...parts.facts,
    });
    return { ok: true, request };
  });
}

/** The same until the next signed time comes: a program may make the request again for the dialog of the import. */
async function requestId(parts: Parts): Promise<string> {
  const open = await openRequest(parts);
  if (open !== undefined) return open;
  const jti = randomUUID();
  await keepRequest(parts, jti);
  return jti;
}

const faults: Record<FileFault, string> = {
  UNREADABLE: 'This is not a license file. Copy it again, as a whole.',
  UNKNOWN_KEY: 'This license file is signed by a key that this program does not know.',
  BAD_SIGNATURE: 'This license file was changed on its way. Copy it again.',
  OTHER_MACHINE: 'This license file is for another machine.',
  OTHER_LICENSE: 'This license file is for another license key.',
  OTHER_MACHINE_KEY: 'This license file is for another request. Make a new request on this machine.',
};

/**
 * The times with those of a license file. The time seen stays where staff may have made the file long before it: it says
 * nothing about the time since. An answer to the open request was made after all that the server signed before, as one
 * online: a later time is of a clock that was ahead, here or of the server. `now` may be right then.
 */
function timesWith(times: Times, { issuedAt }: LicenseFile, isAnswer: boolean, now: number): Times {
  if (!isAnswer) return { ...times, signed: Math.max(times.signed, issuedAt) };
  const seen = Math.min(times.seen, Math.max(issuedAt, now));
  return { signed: issuedAt, seen, refused: Math.min(times.refused, issuedAt) };
}

/** Takes a license file into use if it is for this machine and license and valid now. */
export function importLicense(parts: Parts, text: string): Promise<ImportResult> {
  return unlessBusy(parts, async () => {
    // else the next call would take this file for the one that was given back
    await finishGivingBack(parts);
    const file = await readFor(parts, text);
    if (typeof file === 'string') return refused(file, faults[file]);
    if ('problem' in file) return noKey(file.problem);
    const ended = await givenBack(parts, file);
    if (ended) {
      const made = dateOf(ended.issuedAt);
      return refused('GIVEN_BACK', `The license file of ${made} was given back, and this one is not newer.`);
    }
    const [own, kept, times] = await Promise.all([readOwnFile(parts), keptDecision(parts), readTimes(parts)]);
    // a refusal whose time a crash left out came after the request
    const isLate = kept?.valid === false && kept.issuedAt > (times?.refused ?? 0);
    const isAnswer = file.request !== undefined && file.request === (await openRequest(parts)) && !isLate;
    if (!isAnswer && own && own.issuedAt > file.issuedAt)
      return refused('SUPERSEDED', 'This machine has a newer license file.');
    const now = parts.now().getTime();
    // as check() will: the file for another license may have set the clock that both share back to the present
    const signed = Math.max(times?.signed ?? 0, kept?.issuedAt ?? 0);
    const known = times && timesWith({ ...times, signed }, file, isAnswer, now);
    const { valid, code, message, modules, expiresAt } = evaluateKept({
      now,
      times: known,
      decision: undefined,
      file,
    });
    if (code === 'NO_ANSWER')
      return refused('SUPERSEDED', 'The license server has refused this license since.');
    if (!valid || expiresAt === null || !known) return refused(code, message);
    // a refusal of a later time would end the file; a valid answer of any process holds the seat as long as it counts
    // while the clock lets it count
    const mostAhead = kept?.valid && now >= kept.issuedAt - aheadMs ? aheadMs : 0;
    const isBehind = isAnswer && kept !== undefined && kept.issuedAt > file.issuedAt + mostAhead;
    const problem =
      (await keepOwnFile(parts, text.trim())) ??
      (isBehind ? await keepAnswer(parts, undefined) : undefined) ??
      (await writeTimes(parts, known, isAnswer));
    if (problem !== undefined) return refused('NOT_STORED', problem);
    return { ok: true, expiresAt: new Date(expiresAt).toISOString(), modules };
  });
}
