// Writes the test vectors of every format, with fixed keys: `npm run vectors --workspace client`.
// It uses nothing of the client or the server, so that neither is held to its own mistakes.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format } from 'prettier';

const sha256 = (text) => createHash('sha256').update(text);
const machineHash = (machineId) => sha256(machineId).digest('hex');

/** An Ed25519 key whose 32 bytes are the SHA-256 of its name. */
function keyNamed(name) {
  const seed = sha256(`lanyard test vector: ${name}`).digest();
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return {
    name,
    seed: seed.toString('hex'),
    publicKey: publicKey.export({ format: 'jwk' }).x,
    publicKeyPem,
    keyId: sha256(publicKeyPem).digest('hex').slice(0, 16),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey),
  };
}

const names = ['server 1', 'server 2', 'server 3', 'stranger', 'machine', 'other machine'];
const keys = Object.fromEntries(names.map((name) => [name, keyNamed(name)]));
const [first, second, third] = [keys['server 1'], keys['server 2'], keys['server 3']];
const { stranger, machine } = keys;
const otherMachine = keys['other machine'];

const licenseKey = 'E7K2M-0QX4T-9ZB3C-5DF8G-HJ6C1';
const otherLicenseKey = 'E1111-22222-33333-44444-55559';
const machineId = 'radiology-ws-07';
const otherMachineId = 'radiology-ws-08';
const nonce = '0d6f1c1e-6d7b-4d59-9f1c-0c2f4b9a7e11';
const jti = '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d';
const at = Date.parse('2026-11-22T12:00:00.000Z');
const day = 86_400_000;
const iso = (time) => new Date(time).toISOString();
const whole = (time) => Math.floor(time / 1000);

const base64url = (value) => Buffer.from(value).toString('base64url');

function jws(key, header, claims) {
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${key.sign(signed).toString('base64url')}`;
}

/** Changes one character in the middle of a part, so that the text stays well-formed. */
function altered(text, part = 0, separator = '.') {
  const parts = text.split(separator);
  const middle = Math.floor(parts[part].length / 2);
  const other = parts[part][middle] === 'A' ? 'B' : 'A';
  parts[part] = parts[part].slice(0, middle) + other + parts[part].slice(middle + 1);
  return parts.join(separator);
}

// --- answers --------------------------------------------------------------------------------------------------

const decision = {
  valid: true,
  code: 'VALID',
  message: 'The license is valid on this machine.',
  license: {
    licenseKey,
    type: 'enterprise',
    validUntil: '2027-11-22T12:00:00.000Z',
    modules: [{ moduleId: 'mod_lung_nodule', name: 'Lung Nodule Detection – Größe' }],
  },
  activation: {
    activationId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c11',
    machineId,
    status: 'active',
    activationType: 'automatic',
    lastCheckedAt: iso(at),
    createdAt: iso(at - day),
  },
  machineId,
  nonce,
  issuedAt: iso(at),
  expiresAt: iso(at + 14 * day),
};
const refusal = {
  ...decision,
  valid: false,
  code: 'REVOKED',
  message: 'The license has been revoked.',
  expiresAt: iso(at),
};

function answer(facts, key = first) {
  const signed = typeof facts === 'string' ? facts : JSON.stringify(facts);
  return { signed, signature: key.sign(signed).toString('base64'), keyId: key.keyId };
}

const good = answer(decision);
const expected = { licenseKey, machineId, nonce };
const answerCases = [
  ['valid', good, 'OK'],
  ['a refusal', answer(refusal), 'OK'],
  [
    'a refusal for a key that no license has',
    answer({ ...refusal, code: 'NOT_FOUND', license: null, activation: null }),
    'OK',
  ],
  [
    'the license key as it was typed',
    good,
    'OK',
    { ...expected, licenseKey: 'e7k2m oqx4t 9zb3c 5df8g hj6cl' },
  ],
  ['kept, without a nonce to compare', good, 'OK', { ...expected, nonce: null }],
  ['fields that are not known yet', answer({ ...decision, later: { added: true } }), 'OK'],
  [
    'signed by a stranger under the id of a known key',
    { ...answer(decision, stranger), keyId: first.keyId },
    'BAD_SIGNATURE',
  ],
  ['signed by a key that is not known', answer(decision, stranger), 'UNKNOWN_KEY'],
  [
    'one character of the text altered',
    { ...good, signed: good.signed.replace('2027', '2037') },
    'BAD_SIGNATURE',
  ],
  [
    'one character of the signature altered',
    { ...good, signature: altered(good.signature) },
    'BAD_SIGNATURE',
  ],
  ['an empty signature', { ...good, signature: '' }, 'BAD_SIGNATURE'],
  [
    'a byte after the signature',
    {
      ...good,
      signature: Buffer.concat([Buffer.from(good.signature, 'base64'), Buffer.from([0])]).toString('base64'),
    },
    'BAD_SIGNATURE',
  ],
  [
    'another nonce: a replay',
    good,
    'OTHER_NONCE',
    { ...expected, nonce: '00000000-0000-4000-8000-000000000000' },
  ],
  ['no nonce where one was sent', answer({ ...decision, nonce: null }), 'OTHER_NONCE'],
  ['for another machine', good, 'OTHER_MACHINE', { ...expected, machineId: otherMachineId }],
  ['for another license', good, 'OTHER_LICENSE', { ...expected, licenseKey: otherLicenseKey }],
  ['valid without a license', answer({ ...decision, license: null }), 'OTHER_LICENSE'],
  ['valid with the code of a refusal', answer({ ...decision, code: 'EXPIRED' }), 'UNREADABLE'],
  ['no end', answer({ ...decision, expiresAt: undefined }), 'UNREADABLE'],
  ['signed text that is not JSON', answer('valid'), 'UNREADABLE'],
  ['an endorsement in place of an answer', answer(endorsedText(first, second)), 'UNREADABLE'],
].map(([name, given, outcome, wanted = expected]) => ({ name, answer: given, expected: wanted, outcome }));

// --- endorsements ---------------------------------------------------------------------------------------------

function endorsedText(by, key, changes = {}) {
  return JSON.stringify({
    purpose: 'lanyard signing key',
    keyId: key.keyId,
    algorithm: 'Ed25519',
    publicKeyPem: key.publicKeyPem,
    endorsedBy: by.keyId,
    endorsedAt: iso(at),
    ...changes,
  });
}

function listed(key, by, { changes, signer = by, state = 'retired' } = {}) {
  const signed = by && endorsedText(by, key, changes);
  return {
    keyId: key.keyId,
    algorithm: 'Ed25519',
    publicKeyPem: key.publicKeyPem,
    state,
    endorsement: by ? { keyId: by.keyId, signed, signature: signer.sign(signed).toString('base64') } : null,
  };
}

const shipped = [first.publicKey];
const endorsementCases = [
  ['the shipped key alone', [listed(first)], [first]],
  ['one key on', [listed(second, first), listed(first)], [first, second]],
  [
    'two keys on, in any order',
    [listed(third, second), listed(first), listed(second, first)],
    [first, second, third],
  ],
  ['a gap in the chain', [listed(third, second), listed(first)], [first]],
  ['a key that nobody endorses', [listed(stranger), listed(first)], [first]],
  ['a key that endorses itself', [listed(stranger, stranger), listed(first)], [first]],
  [
    'an endorsement that a stranger signed',
    [listed(second, first, { signer: stranger }), listed(first)],
    [first],
  ],
  ['an endorsement for another purpose', [listed(second, first, { changes: { purpose: 'other' } })], [first]],
  [
    'an endorsement of one key beside another',
    [{ ...listed(second, first), publicKeyPem: stranger.publicKeyPem }],
    [first, second],
  ],
  [
    'an id that is not that of the key',
    [listed(second, first, { changes: { keyId: third.keyId } })],
    [first],
  ],
  [
    'the id of a known key for another key',
    [listed(second, first, { changes: { keyId: first.keyId } })],
    [first],
  ],
  ['two that endorse each other', [listed(second, third), listed(third, second)], [first]],
  ['no list', null, [first]],
].map(([name, list, known]) => ({
  name,
  trusted: shipped,
  list,
  known: known.map(({ keyId }) => keyId).toSorted(),
}));

// --- enrollment -----------------------------------------------------------------------------------------------

const enrollmentText = (facts) => `lanyard-enroll\n${facts.nonce}\n${facts.machineId}\n${facts.licenseKey}`;
const enrolling = { nonce, machineId, licenseKey };
const enrolled = machine.sign(enrollmentText(enrolling)).toString('base64url');
const enrollmentCases = [
  ['valid', {}, enrolled, true],
  [
    'a machine id with umlauts',
    { machineId: 'Röntgen 7' },
    machine.sign(enrollmentText({ ...enrolling, machineId: 'Röntgen 7' })).toString('base64url'),
    true,
  ],
  ['another nonce', { nonce: 'another' }, enrolled, false],
  ['another machine', { machineId: otherMachineId }, enrolled, false],
  ['another license', { licenseKey: otherLicenseKey }, enrolled, false],
  ['signed by another key', {}, otherMachine.sign(enrollmentText(enrolling)).toString('base64url'), false],
  ['an altered byte', {}, altered(enrolled), false],
].map(([name, changes, signature, outcome]) => {
  const facts = { ...enrolling, ...changes };
  return { name, ...facts, publicKey: machine.publicKey, text: enrollmentText(facts), signature, outcome };
});

// --- files ----------------------------------------------------------------------------------------------------

const types = {
  license: 'lanyard-license+jwt',
  request: 'lanyard-request+jwt',
  receipt: 'lanyard-return+jwt',
};

const fileClaims = {
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
const licenseFile = (changes = {}, { key = first, header = {} } = {}) =>
  jws(key, { ...fileHeader, ...header }, { ...fileClaims, ...changes });
const goodFile = licenseFile();
const holder = { licenseKey, machineId, publicKey: machine.publicKey };

const fileCases = [
  ['valid', goodFile, 'OK'],
  ['line breaks and spaces, as pasted', ` ${goodFile.replaceAll(/.{64}/g, '$&\r\n')}\n`, 'OK'],
  ['claims that are not known yet', licenseFile({ seats: 3 }), 'OK'],
  [
    'signed by a key that is not known',
    licenseFile({}, { key: stranger, header: { kid: stranger.keyId } }),
    'UNKNOWN_KEY',
  ],
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
  ['a text', 'Please find the license attached.', 'UNREADABLE'],
  ['nothing', '', 'UNREADABLE'],
  ['for another machine', licenseFile({ machine: machineHash(otherMachineId) }), 'OTHER_MACHINE'],
  ['for another license', licenseFile({ sub: otherLicenseKey }), 'OTHER_LICENSE'],
  ['for another key of the machine', licenseFile({ key: otherMachine.publicKey }), 'OTHER_MACHINE_KEY'],
].map(([name, file, outcome]) => ({
  name,
  file,
  holder,
  outcome,
  ...(outcome === 'OK' ? { claims: fileClaims } : {}),
}));

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
const requestCases = [
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
const receiptCases = [
  ['valid', goodReceipt, 'OK'],
  ['signed by another key', receipt({}, { key: otherMachine }), 'BAD_SIGNATURE'],
  ['signed by the server', receipt({}, { key: first }), 'BAD_SIGNATURE'],
  ['one character of the signature altered', altered(goodReceipt, 2), 'BAD_SIGNATURE'],
  ['another type', receipt({}, { typ: types.request }), 'UNREADABLE'],
  ['for another license', receipt({ sub: otherLicenseKey }), 'OTHER_LICENSE'],
  ['for another machine', receipt({ machine: machineHash(otherMachineId) }), 'OTHER_MACHINE'],
  ['for another license file', receipt({ jti: '11111111-2222-4333-8444-555555555555' }), 'OTHER_FILE'],
].map(([name, text, outcome]) => ({ name, receipt: text, outcome }));

// --- without the server ---------------------------------------------------------------------------------------

const minute = 60_000;
const times = (changes = {}) => ({ signed: at, seen: 0, refused: 0, ...changes });
const keptCases = [
  ['a kept answer within its grace', { decision: good, now: at + 13 * day }, [true, 'kept', 'VALID']],
  ['a kept answer at its last moment', { decision: good, now: at + 14 * day }, [true, 'kept', 'VALID']],
  [
    'a kept answer after its grace',
    { decision: good, now: at + 14 * day + 1 },
    [false, 'kept', 'OFFLINE_TOO_LONG'],
  ],
  [
    'a kept answer after the end of the license',
    { decision: good, now: at + 366 * day },
    [false, 'kept', 'EXPIRED'],
  ],
  [
    'a kept refusal',
    { decision: answer(refusal), now: at, times: times({ refused: at }) },
    [false, 'kept', 'REVOKED'],
  ],
  [
    'a valid answer that was put back after a refusal',
    { decision: good, now: at + day, times: times({ signed: at + day, refused: at + day }) },
    [false, 'none', 'NO_ANSWER'],
  ],
  [
    'a clock 5 minutes behind the last signed time',
    { decision: good, now: at - 5 * minute },
    [true, 'kept', 'VALID'],
  ],
  [
    'a clock more than 5 minutes behind the last signed time',
    { decision: good, now: at - 5 * minute - 1 },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  [
    'a clock an hour behind its own newest time',
    { decision: good, now: at + day, times: times({ seen: at + day + 60 * minute }) },
    [true, 'kept', 'VALID'],
  ],
  [
    'a clock more than an hour behind its own newest time',
    { decision: good, now: at + day, times: times({ seen: at + day + 60 * minute + 1 }) },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  ['a license file', { file: goodFile, now: at + 30 * day }, [true, 'file', 'VALID']],
  ['a license file at its end', { file: goodFile, now: at + 90 * day }, [true, 'file', 'VALID']],
  ['a license file in its grace', { file: goodFile, now: at + 97 * day }, [true, 'file', 'VALID']],
  [
    'a license file after its grace',
    { file: goodFile, now: at + 97 * day + 1 },
    [false, 'file', 'FILE_ENDED'],
  ],
  [
    'a license file that is not valid yet',
    { file: licenseFile({ nbf: whole(at + 2 * day) }), now: at + day },
    [false, 'file', 'NOT_YET_VALID'],
  ],
  [
    'a license file and a clock set back',
    { file: goodFile, now: at + 30 * day, times: times({ seen: at + 32 * day }) },
    [false, 'none', 'CLOCK_SET_BACK'],
  ],
  [
    'a license file after a kept answer ran out',
    { decision: good, file: goodFile, now: at + 30 * day },
    [true, 'file', 'VALID'],
  ],
  [
    'a license file before a refusal',
    {
      decision: answer({ ...refusal, issuedAt: iso(at + day) }),
      file: goodFile,
      now: at + 2 * day,
      times: times({ signed: at + day, refused: at + day }),
    },
    [false, 'kept', 'REVOKED'],
  ],
  [
    'a license file after a refusal',
    {
      decision: answer({ ...refusal, issuedAt: iso(at - day) }),
      file: goodFile,
      now: at + 2 * day,
      times: times({ refused: at - day }),
    },
    [true, 'file', 'VALID'],
  ],
  ['nothing', { now: at }, [false, 'none', 'NO_ANSWER']],
].map(
  ([name, { decision: kept = null, file = null, now, times: seen = times() }, [valid, source, code]]) => ({
    name,
    answer: kept,
    file,
    now: iso(now),
    times: Object.fromEntries(
      Object.entries(seen).map(([what, time]) => [what, time === 0 ? null : iso(time)]),
    ),
    outcome: { valid, source, code },
  }),
);

// --- tokens ---------------------------------------------------------------------------------------------------

const token = 'lym_0123456789ab_abcdefghijklmnopqrstuvwxyz0123456789abcdefg';
const tokenCases = [
  ['valid', token, true],
  ['an API key', token.replace('lym_', 'lyd_'), false],
  ['a secret that is too short', token.slice(0, -1), false],
  ['a secret that is too long', `${token}0`, false],
  ['no id', token.replace('_0123456789ab', ''), false],
  ['a character that tokens do not have', token.replace('g', '-'), false],
  ['nothing', '', false],
].map(([name, text, outcome]) => ({ name, token: text, outcome }));

// --- files of the vectors -------------------------------------------------------------------------------------

const context = { licenseKey, machineId, machinePublicKey: machine.publicKey, jti };
const vectors = {
  keys: {
    about:
      'The keys of all vectors. `seed` is the private key of Ed25519 (RFC 8032), hexadecimal. Never use them.',
    keys: Object.values(keys).map(({ name, seed, publicKey, publicKeyPem, keyId }) => ({
      name,
      seed,
      publicKey,
      publicKeyPem,
      keyId,
    })),
  },
  answer: {
    about:
      'Signed answers of validation and enrollment. `trusted`: the keys of the program. `expected`: what was sent; nonce null: a kept answer.',
    trusted: shipped,
    cases: answerCases,
  },
  endorsements: {
    about: 'Lists of GET /api/v1/keys. `known`: the ids of the keys to trust after following the list.',
    cases: endorsementCases,
  },
  enrollment: {
    about:
      'The signature of an enrollment: Ed25519 over the UTF-8 bytes of `text`, base64url. `outcome`: whether it is valid.',
    cases: enrollmentCases,
  },
  request: {
    about: 'Offline requests, signed by the key inside. `outcome`: what a server finds.',
    cases: requestCases,
  },
  'license-file': {
    about: 'License files, and the machine that reads them.',
    trusted: shipped,
    cases: fileCases,
  },
  receipt: {
    about:
      'Receipts of a machine that gives its license file back. `context`: the license file that was issued.',
    context,
    cases: receiptCases,
  },
  kept: {
    about:
      'Decisions without the server: by a kept answer and a license file at a time. `times`: the newest time that was signed, that the clock showed while the program was valid, and of a signed refusal.',
    trusted: shipped,
    holder,
    cases: keptCases,
  },
  'machine-token': {
    about:
      'The form of machine tokens: `lym_`, an id of 12 and a secret of 43 lower-case letters and digits.',
    cases: tokenCases,
  },
};

// `--check`: exits with 1 if a file is not what this program would write
const isCheck = process.argv.includes('--check');
for (const [name, content] of Object.entries(vectors)) {
  const file = path.join(import.meta.dirname, `${name}.json`);
  const text = await format(JSON.stringify(content), { parser: 'json', printWidth: 110 });
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.log(`${file} is not up to date: npm run vectors --workspace client`);
    process.exitCode = 1;
  }
}
