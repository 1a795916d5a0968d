import { z } from 'zod';
import { id } from '../../../contract/common.ts';
import { licenseKeyInput } from '../../../contract/activations.ts';
import { validationRequest } from '../../../contract/validation.ts';
import { breaksRule, isFailure, type Failure } from '../../failure.ts';
import { bytesOf, decodeJws, isSignedBy, jwsTypes, type Jws } from './jws.ts';

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
  jti: id,
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
  if (!isSignedBy(read.jws, read.said.key)) return altered('request');
  return read.said;
}

/** A receipt, not yet verified: only the license file that it names knows the key of the machine. */
export const readReceipt = (text: string) => readAs('receipt', receipt, text);

export const altered = (path: 'request' | 'receipt'): Failure =>
  breaksRule(path, 'Is incomplete, or was changed after the machine signed it');

function readAs<S extends z.ZodType>(
  path: 'request' | 'receipt',
  schema: S,
  text: string,
): { jws: Jws; said: z.output<S> } | Failure {
  const jws = decodeJws(text);
  if (!jws) return altered(path);
  const type = jwsTypes[path];
  if (jws.type !== type)
    return breaksRule(path, `This is ${names[jws.type] ?? 'something else'}, not ${names[type]}`);
  const said = schema.safeParse(jws.payload);
  if (said.success) return { jws, said: said.data };
  return breaksRule(path, `Its field ${said.error.issues[0]?.path.join('.')} is not valid`);
}
