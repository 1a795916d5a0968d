import { readLicenseFile, type FileFault, type LicenseFile } from './license-file.ts';
import { keyHash } from './license-key.ts';
import { whyHeld, type Parts } from './parts.ts';
import { lastReturn, type Return } from './returns.ts';

/** Each license has a file of its own: without it, a file could not be given back after another was imported. */
const nameFor = ({ licenseKey }: Parts) => `license-${keyHash(licenseKey)}.jws`;

/** Returns the problem, if there is one. */
export const keepOwnFile = (parts: Parts, text: string) => parts.store.write(nameFor(parts), text);

export const removeOwnFile = (parts: Parts) => parts.store.remove(nameFor(parts));

/** Why a license file in the folder cannot be read at the moment; undefined if it can, or there is none. */
export const ownFileHeld = (parts: Parts) => whyHeld(parts, nameFor(parts));

/** The license file in the folder, verified; undefined if there is none, or it was given back, or it does not count. */
export async function readOwnFile(parts: Parts): Promise<LicenseFile | undefined> {
  const text = await parts.store.read(nameFor(parts));
  const file = text === undefined ? undefined : await readFor(parts, text);
  if (file === undefined || typeof file === 'string' || 'problem' in file) return undefined;
  return (await givenBack(parts, file)) ? undefined : file;
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

/** The return of a file, or of a newer one: the seat that it stood for is free. */
export async function givenBack(parts: Parts, { issuedAt }: LicenseFile): Promise<Return | undefined> {
  const last = await lastReturn(parts);
  return last && issuedAt <= last.issuedAt ? last : undefined;
}
