import { z } from 'zod';
import { id } from '../../../contract/common.ts';
import { licenseKeyInput } from '../../../contract/activations.ts';
import { validationRequest } from '../../../contract/validation.ts';
import { breaksRule, isFailure, type Failure } from '../../failure.ts';
import { isSignedBy } from '../../machine-signature.ts';
import { parseLicenseKey } from '../licenses/index.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { bytesOf, decodeJws, jwsTypes, type Jws } from './jws.ts';

const seconds = z.number().int().min(0);
const publicKey = z.string().transform((text, issues) => {
  const bytes = bytesOf(text);
  if (bytes?.length === 32) return bytes;
  issues.addIssue('must be a raw Ed25519 key in base64url');
  return z.NEVER;
});

const { machineId, hostname, platform, architecture, osVersion, appVersion } = validationRequest.shape;
const request = z.object({
  sub: licenseKeyInput,
  key: publicKey,
  iat: seconds,
  // as it is written: the machine compares the license file with it
  jti: z.uuid(),
  machineId,
  hostname,
  platform,
  architecture,
  osVersion,
  appVersion,
});
const receipt = z.object({ sub: licenseKeyInput, jti: id, machine: z.string(), iat: seconds });

const names: Record<string, string> = {
  [jwsTypes.request]: 'a request for a license file',
  [jwsTypes.license]: 'a license file',
  [jwsTypes.receipt]: 'a return receipt',
};

export type OfflineRequest = z.output<typeof request>;

/** A request of a machine, signed with the key that it names: nobody altered it on its way. */
export function readRequest(text: string): OfflineRequest | Failure {
  const read = readAs('request', request, text);
  if (isFailure(read)) return read;
  const { jws, said } = read;
  return isSignedBy(said.key, jws.signed, jws.signature) ? said : altered('request');
}

/** A receipt, not verified yet: only the license file that it names, by `jti`, tells the key of the machine. */
export const readReceipt = (text: string) => readAs('receipt', receipt, text);

type Receipt = Exclude<ReturnType<typeof readReceipt>, Failure>;

/** Why a receipt is not one of the machine with this license file. */
export function refuseReceipt(
  { jws, said }: Receipt,
  file: { licenseKey: string; machineId: string; publicKey: Buffer },
): Failure | undefined {
  if (parseLicenseKey(said.sub) !== file.licenseKey) return breaksRule('receipt', 'Is for another license');
  if (!isSignedBy(file.publicKey, jws.signed, jws.signature)) return altered('receipt');
  if (said.machine !== machineHashOf(file.machineId)) return breaksRule('receipt', 'Is of another machine');
  return undefined;
}

const altered = (path: 'request' | 'receipt'): Failure =>
  breaksRule(path, 'Is incomplete, or was changed after the machine signed it');

function readAs<S extends z.ZodType>(
  path: 'request' | 'receipt',
  schema: S,
  text: string,
): { jws: Jws; said: z.output<S> } | Failure {
  const jws = decodeJws(text);
  const type = jwsTypes[path];
  if (!jws)
    return breaksRule(
      path,
      `Is not ${names[type]}, or not all of it: copy the whole text again, or choose its file`,
    );
  if (jws.type !== type)
    return breaksRule(path, `This is ${names[jws.type] ?? 'something else'}, not ${names[type]}`);
  const said = schema.safeParse(jws.payload);
  if (said.success) return { jws, said: said.data };
  return breaksRule(path, `Its field ${said.error.issues[0]?.path.join('.')} is not valid`);
}
