import { createHash } from 'node:crypto';
import { readLicenseFile, type FileFault, type LicenseFile } from './license-file.ts';
import { whyHeld, type Parts } from './parts.ts';
import { lastReturn } from './returns.ts';

/** The first versions kept one file for all licenses; it counts for the license that it is for. */
const sharedName = 'license.jws';

/** Each license has a file of its own: without it, a file could not be given back after another was imported. */
const nameFor = ({ licenseKey }: Parts) =>
  `license-${createHash('sha256').update(licenseKey).digest('hex').slice(0, 16)}.jws`;

/** Returns the problem, if there is one. */
export const keepOwnFile = (parts: Parts, text: string) => parts.store.write(nameFor(parts), text);

export async function removeOwnFile(parts: Parts): Promise<void> {
  await parts.store.remove(nameFor(parts));
  if (await readNamed(parts, sharedName)) await parts.store.remove(sharedName);
}

/** Why a license file in the folder cannot be read at the moment; undefined if it can, or there is none. */
export const ownFileHeld = async (parts: Parts): Promise<string | undefined> =>
  (await whyHeld(parts, nameFor(parts))) ?? whyHeld(parts, sharedName);

/** The license file in the folder, verified; undefined if there is none, or it was given back, or it does not count. */
export async function readOwnFile(parts: Parts): Promise<LicenseFile | undefined> {
  const file = (await readNamed(parts, nameFor(parts))) ?? (await readNamed(parts, sharedName));
  return file && (await isGivenBack(parts, file)) ? undefined : file;
}

async function readNamed(parts: Parts, name: string): Promise<LicenseFile | undefined> {
  const text = await parts.store.read(name);
  const file = text === undefined ? undefined : await readFor(parts, text);
  return file === undefined || typeof file === 'string' || 'problem' in file ? undefined : file;
}

/** Verifies a license file for this machine and license. A problem if the key of the machine cannot be read. */
export async function readFor(
  parts: Parts,
  text: string,
): Promise<LicenseFile | FileFault | { problem: string }> {
  const identity = await parts.secrets.identity();
  if ('problem' in identity) return identity;
  const { licenseKey } = parts;
  const holder = { licenseKey, machineId: await parts.machineId(), publicKey: identity.publicKey };
  return readLicenseFile(text, parts.keys, holder);
}

/** Whether a file was given back, or is older than one that was: the seat that it stood for is free. */
export async function isGivenBack(parts: Parts, { issuedAt }: LicenseFile): Promise<boolean> {
  const last = await lastReturn(parts);
  return last !== undefined && issuedAt <= last.issuedAt;
}
