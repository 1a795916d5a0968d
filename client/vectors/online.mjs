// What passes between a machine and the server: answers, endorsements, enrollments, tokens.
import {
  altered,
  at,
  day,
  first,
  iso,
  licenseKey,
  machine,
  machineId,
  nonce,
  otherLicenseKey,
  otherMachine,
  otherMachineId,
  second,
  stranger,
  third,
} from './fixed.mjs';

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
export const refusal = {
  ...decision,
  valid: false,
  code: 'REVOKED',
  message: 'The license has been revoked.',
  expiresAt: iso(at),
};

export function answer(facts, key = first) {
  const signed = typeof facts === 'string' ? facts : JSON.stringify(facts);
  return { signed, signature: key.sign(signed).toString('base64'), keyId: key.keyId };
}

export const good = answer(decision);
export const expected = { licenseKey, machineId, nonce };
export const answerCases = [
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
  ['valid as a text', answer({ ...decision, valid: 'true' }), 'UNREADABLE'],
  ['no beginning', answer({ ...decision, issuedAt: undefined }), 'UNREADABLE'],
  ['no end', answer({ ...decision, expiresAt: undefined }), 'UNREADABLE'],
  ['no message', answer({ ...decision, message: undefined }), 'UNREADABLE'],
  ['a refusal without a code', answer({ ...refusal, code: undefined }), 'UNREADABLE'],
  ['signed text that is not JSON', answer('valid'), 'UNREADABLE'],
  ['an endorsement in place of an answer', answer(endorsedText(first, second)), 'UNREADABLE'],
].map(([name, given, outcome, wanted]) => ({ name, answer: given, expected: wanted, outcome }));

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

export function listed(key, by, { changes, signer = by, state = 'retired' } = {}) {
  const signed = by && endorsedText(by, key, changes);
  return {
    keyId: key.keyId,
    algorithm: 'Ed25519',
    publicKeyPem: key.publicKeyPem,
    state,
    endorsement: by ? { keyId: by.keyId, signed, signature: signer.sign(signed).toString('base64') } : null,
  };
}

export const shipped = [first.publicKey];
export const endorsementCases = [
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
  [
    'an endorsement that names another key as its own',
    [listed(second, first, { changes: { endorsedBy: third.keyId } })],
    [first],
  ],
  [
    'what is no endorsement beside one that is',
    [
      listed(third, first, { changes: { publicKeyPem: 'of a later algorithm' } }),
      listed(third, first, { changes: { publicKeyPem: undefined } }),
      ...['keyId', 'signed', 'signature'].map((name) => ({
        endorsement: { ...listed(third, first).endorsement, [name]: 1 },
      })),
      null,
      listed(second, first),
    ],
    [first, second],
  ],
  ['two that endorse each other', [listed(second, third), listed(third, second)], [first]],
  ['no list', null, [first]],
].map(([name, list, known]) => ({
  name,
  list,
  known: known.map(({ keyId }) => keyId).toSorted(),
}));

const enrollmentText = (facts) => `lanyard-enroll\n${facts.nonce}\n${facts.machineId}\n${facts.licenseKey}`;
const enrolling = { nonce, machineId, licenseKey };
const enrolled = machine.sign(enrollmentText(enrolling)).toString('base64url');
// a nonce of its own, since each counts once for a key and a license
const umlauts = { nonce: '5b8f0d3a-3c1e-4f7b-8a2d-6e9c1b7f4d20', machineId: 'Röntgen 7' };
export const enrollmentCases = [
  ['valid', {}, enrolled, true],
  [
    'a machine id with umlauts',
    umlauts,
    machine.sign(enrollmentText({ ...enrolling, ...umlauts })).toString('base64url'),
    true,
  ],
  ['another nonce', { nonce: 'another' }, enrolled, false],
  ['another machine', { machineId: otherMachineId }, enrolled, false],
  ['another license', { licenseKey: otherLicenseKey }, enrolled, false],
  ['signed by another key', {}, otherMachine.sign(enrollmentText(enrolling)).toString('base64url'), false],
  ['an altered byte', {}, altered(enrolled), false],
].map(([name, changes, signature, outcome]) => {
  const facts = { ...enrolling, ...changes };
  return { name, ...facts, text: enrollmentText(facts), signature, outcome };
});

const token = 'lym_0123456789ab_abcdefghijklmnopqrstuvwxyz0123456789abcdefg';
export const tokenCases = [
  ['valid', token, true],
  ['an API key', token.replace('lym_', 'lyd_'), false],
  ['a secret that is too short', token.slice(0, -1), false],
  ['a secret that is too long', `${token}0`, false],
  ['no id', token.replace('_0123456789ab', ''), false],
  ['a character that tokens do not have', token.replace('g', '-'), false],
  ['nothing', '', false],
].map(([name, text, outcome]) => ({ name, token: text, outcome }));
