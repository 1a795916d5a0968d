// The signed texts of machines without a network: license files, requests, receipts.
import {
  altered,
  at,
  base64url,
  day,
  first,
  jti,
  jws,
  licenseKey,
  machine,
  machineHash,
  machineId,
  otherLicenseKey,
  otherMachine,
  otherMachineId,
  second,
  stranger,
  third,
  whole,
} from './fixed.mjs';
import { listed } from './online.mjs';

const types = {
  license: 'lanyard-license+jwt',
  request: 'lanyard-request+jwt',
  receipt: 'lanyard-return+jwt',
};

export const fileClaims = {
  iss: 'https://lanyard.example',
  sub: licenseKey,
  jti,
  iat: whole(at),
  nbf: whole(at),
  exp: whole(at + 90 * day),
  machine: machineHash(machineId),
  key: machine.publicKey,
  type: 'enterprise',
  modules: ['mod_diabetes', 'mod_lung_nodule'],
  grace: 7,
};
const fileHeader = { alg: 'EdDSA', typ: types.license, kid: first.keyId };
export const licenseFile = (changes = {}, { key = first, header = {} } = {}) =>
  jws(key, { ...fileHeader, ...header }, { ...fileClaims, ...changes });
export const goodFile = licenseFile();
export const holder = { licenseKey, machineId, publicKey: machine.publicKey };

/** The endorsement of a key as a license file carries it. */
const carried = (by, key) => listed(key, by).endorsement;
const endorsedFile = (key, endorsements) =>
  licenseFile({}, { key, header: { kid: key.keyId, endorsements } });

export const fileCases = [
  ['valid', goodFile, 'OK'],
  [
    'line breaks, spaces and invisible characters, as pasted',
    ` ${goodFile.replaceAll(/.{64}/g, '$&\u200b\r\n')}\n`,
    'OK',
  ],
  ['claims that are not known yet', licenseFile({ seats: 3 }), 'OK'],
  [
    'signed by a key that is not known',
    licenseFile({}, { key: stranger, header: { kid: stranger.keyId } }),
    'UNKNOWN_KEY',
  ],
  [
    'signed by a newer key, with the endorsements that lead to it',
    endorsedFile(third, [carried(first, second), carried(second, third)]),
    'OK',
  ],
  [
    'signed by a newer key, with a gap in the endorsements',
    endorsedFile(third, [carried(second, third)]),
    'UNKNOWN_KEY',
  ],
  [
    'signed by a stranger that a stranger endorses',
    endorsedFile(stranger, [carried(stranger, stranger)]),
    'UNKNOWN_KEY',
  ],
  ['endorsements that are none', endorsedFile(first, [null, 'x', {}]), 'OK'],
  ['no key id', licenseFile({}, { header: { kid: undefined } }), 'UNKNOWN_KEY'],
  ['signed by a stranger under the id of a known key', licenseFile({}, { key: stranger }), 'BAD_SIGNATURE'],
  ['one character of the signature altered', altered(goodFile, 2), 'BAD_SIGNATURE'],
  [
    'the claims of another file under this signature',
    [
      goodFile.split('.')[0],
      licenseFile({ exp: fileClaims.exp + 1 }).split('.')[1],
      goodFile.split('.')[2],
    ].join('.'),
    'BAD_SIGNATURE',
  ],
  ['the last bits of the signature altered', withOtherLastBits(goodFile), 'UNREADABLE'],
  [
    'algorithm none',
    `${jws(first, { ...fileHeader, alg: 'none' }, fileClaims)
      .split('.')
      .slice(0, 2)
      .join('.')}.`,
    'UNREADABLE',
  ],
  ['algorithm HS256', licenseFile({}, { header: { alg: 'HS256' } }), 'UNREADABLE'],
  ['another type', licenseFile({}, { header: { typ: types.request } }), 'UNREADABLE'],
  ['a critical header', licenseFile({}, { header: { crit: ['b64'], b64: false } }), 'UNREADABLE'],
  ['a part is missing', goodFile.split('.').slice(0, 2).join('.'), 'UNREADABLE'],
  ['a part too many', `${goodFile}.${base64url('{}')}`, 'UNREADABLE'],
  ['padding', `${goodFile}==`, 'UNREADABLE'],
  ['an end that is no number', licenseFile({ exp: '2027-02-20' }), 'UNREADABLE'],
  ['a license that is no text', licenseFile({ sub: 1 }), 'UNREADABLE'],
  ['an id that is no text', licenseFile({ jti: 1 }), 'UNREADABLE'],
  ['modules that are no list', licenseFile({ modules: 'mod_diabetes' }), 'UNREADABLE'],
  ['a text', 'Please find the license attached.', 'UNREADABLE'],
  ['nothing', '', 'UNREADABLE'],
  ['for another machine', licenseFile({ machine: machineHash(otherMachineId) }), 'OTHER_MACHINE'],
  ['for another license', licenseFile({ sub: otherLicenseKey }), 'OTHER_LICENSE'],
  ['for another key of the machine', licenseFile({ key: otherMachine.publicKey }), 'OTHER_MACHINE_KEY'],
].map(([name, file, outcome]) => ({ name, file, outcome }));

/** The last character of 64 bytes in base64url carries 2 bits of the signature and 4 that must be zero. */
function withOtherLastBits(text) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)) + 1];
}

const requestClaims = {
  sub: licenseKey,
  machineId,
  key: machine.publicKey,
  iat: whole(at),
  jti,
  hostname: 'ws-07.radiology.example',
  platform: 'linux',
  architecture: 'x64',
  osVersion: '6.1.0',
  appVersion: '4.3.0',
};
const requestHeader = { alg: 'EdDSA', typ: types.request };
const request = (changes = {}, { key = machine, header = {} } = {}) =>
  jws(key, { ...requestHeader, ...header }, { ...requestClaims, ...changes });
const goodRequest = request();
export const requestCases = [
  ['valid', goodRequest, 'OK'],
  [
    'without facts',
    jws(machine, requestHeader, { sub: licenseKey, machineId, key: machine.publicKey, iat: whole(at), jti }),
    'OK',
  ],
  ['signed by another key than the one inside', request({}, { key: otherMachine }), 'BAD_SIGNATURE'],
  [
    'the machine of another request under this signature',
    [
      goodRequest.split('.')[0],
      request({ machineId: otherMachineId }).split('.')[1],
      goodRequest.split('.')[2],
    ].join('.'),
    'BAD_SIGNATURE',
  ],
  ['one character of the signature altered', altered(goodRequest, 2), 'BAD_SIGNATURE'],
  ['another type', request({}, { header: { typ: types.license } }), 'UNREADABLE'],
  [
    'algorithm none',
    `${jws(machine, { ...requestHeader, alg: 'none' }, requestClaims)
      .split('.')
      .slice(0, 2)
      .join('.')}.`,
    'UNREADABLE',
  ],
  ['a key that is too short', request({ key: machine.publicKey.slice(1) }), 'UNREADABLE'],
  ['a part is missing', goodRequest.split('.').slice(0, 2).join('.'), 'UNREADABLE'],
].map(([name, text, outcome]) => ({
  name,
  request: text,
  outcome,
  ...(outcome === 'OK' ? { claims: JSON.parse(Buffer.from(text.split('.')[1], 'base64url')) } : {}),
}));

const receiptClaims = { sub: licenseKey, jti, machine: machineHash(machineId), iat: whole(at + day) };
const receipt = (changes = {}, { key = machine, typ = types.receipt } = {}) =>
  jws(key, { alg: 'EdDSA', typ }, { ...receiptClaims, ...changes });
const goodReceipt = receipt();
export const receiptCases = [
  ['valid', goodReceipt, 'OK'],
  ['signed by another key', receipt({}, { key: otherMachine }), 'BAD_SIGNATURE'],
  ['signed by the server', receipt({}, { key: first }), 'BAD_SIGNATURE'],
  ['one character of the signature altered', altered(goodReceipt, 2), 'BAD_SIGNATURE'],
  ['another type', receipt({}, { typ: types.request }), 'UNREADABLE'],
  ['for another license', receipt({ sub: otherLicenseKey }), 'OTHER_LICENSE'],
  ['for another machine', receipt({ machine: machineHash(otherMachineId) }), 'OTHER_MACHINE'],
  ['for another license file', receipt({ jti: '11111111-2222-4333-8444-555555555555' }), 'OTHER_FILE'],
].map(([name, text, outcome]) => ({ name, receipt: text, outcome }));
