import { randomUUID, sign } from 'node:crypto';
import { offline } from '../contract/offline.ts';
import type { License } from '../contract/licenses.ts';
import { machineHashOf } from '../server/machine-hash.ts';
import { makeMachineKey, type MachineKey } from './factories.ts';
import type { Api } from './harness.ts';

type Claims = Record<string, unknown>;
type Header = { alg?: string; typ?: string; [name: string]: unknown };

/** A machine without a network: its key pair, and the texts that its program makes. */
export type OfflineMachine = {
  machineId: string;
  key: string;
  /** A JWS of this machine, whatever it says. */
  jws(type: string, claims: Claims, header?: Header): string;
  request(license: Pick<License, 'licenseKey'>, claims?: Claims): string;
  receipt(license: Pick<License, 'licenseKey'>, fileId: string, claims?: Claims): string;
};

export function offlineMachine(
  machineId: string,
  { privateKey, publicKey: key }: MachineKey = makeMachineKey(),
): OfflineMachine {
  const iat = Math.floor(Date.now() / 1000);
  const jws: OfflineMachine['jws'] = (typ, claims, header = {}) => {
    const signed = [{ alg: 'EdDSA', typ, ...header }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  };
  return {
    machineId,
    key,
    jws,
    request: ({ licenseKey }, claims) =>
      jws('lanyard-request+jwt', { sub: licenseKey, machineId, key, iat, jti: randomUUID(), ...claims }),
    receipt: ({ licenseKey }, fileId, claims) =>
      jws('lanyard-return+jwt', {
        sub: licenseKey,
        jti: fileId,
        machine: machineHashOf(machineId),
        iat,
        ...claims,
      }),
  };
}

/** Staff issue a license file for the machine. */
export function issueTo(
  api: Api,
  license: Pick<License, 'licenseId' | 'licenseKey'>,
  machine: OfflineMachine,
  days?: number,
) {
  const params = { id: license.licenseId };
  return api.ok(offline.issue, {
    params,
    body: { request: machine.request(license), ...(days ? { days } : {}) },
  });
}

/** What a signed text says, without a check of its signature. */
export const claimsOf = (jws: string): Claims =>
  JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString()) as Claims;
