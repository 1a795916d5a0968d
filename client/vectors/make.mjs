// Writes the test vectors of every format, with fixed keys: `npm run vectors --workspace client`.
// It uses nothing of the client or the server, so that neither is held to its own mistakes.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format } from 'prettier';
import { jti, keys, licenseKey, machine, machineId } from './fixed.mjs';
import { keptCases } from './kept.mjs';
import { fileCases, fileClaims, holder, receiptCases, requestCases } from './offline.mjs';
import { answerCases, endorsementCases, enrollmentCases, expected, shipped, tokenCases } from './online.mjs';

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
      'Signed answers of validation and enrollment. `trusted`: the keys of the program. `expected`: what was sent, unless a case has its own; nonce null: a kept answer.',
    trusted: shipped,
    expected,
    cases: answerCases,
  },
  endorsements: {
    about: 'Lists of GET /api/v1/keys. `known`: the ids of the keys to trust after following the list.',
    trusted: shipped,
    cases: endorsementCases,
  },
  enrollment: {
    about:
      'The signature of an enrollment: Ed25519 over the UTF-8 bytes of `text`, base64url. `outcome`: whether it is valid.',
    publicKey: machine.publicKey,
    cases: enrollmentCases,
  },
  request: {
    about: 'Offline requests, signed by the key inside. `outcome`: what a server finds.',
    cases: requestCases,
  },
  'license-file': {
    about: 'License files. `holder`: the machine that reads them. `claims`: of each whose outcome is OK.',
    trusted: shipped,
    holder,
    claims: fileClaims,
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
      'Decisions without the server: by a kept answer and a license file at a time. `times`: the newest time that was signed, that the clock showed while the program was valid, and of a signed refusal; null: their record is gone.',
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
