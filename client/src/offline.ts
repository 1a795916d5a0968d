import { randomUUID } from 'node:crypto';
import { evaluateKept } from './evaluate-kept.ts';
import { finishGivingBack } from './give-back.ts';
import { signJws, wholeSeconds } from './jws.ts';
import type { FileFault } from './license-file.ts';
import { isGivenBack, keepOwnFile, readFor, readOwnFile } from './own-file.ts';
import { areTimesGone, readTimes, writeTimes, type Parts } from './parts.ts';
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
  return unlessBusy(parts, async () => {
    // else the next call would take this file for the one that was given back
    await finishGivingBack(parts);
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
    const problem = (await keepOwnFile(parts, text.trim())) ?? (await writeTimes(parts, known));
    if (problem !== undefined) return refused('NOT_STORED', problem);
    return { ok: true, expiresAt: new Date(expiresAt).toISOString(), modules };
  });
}
