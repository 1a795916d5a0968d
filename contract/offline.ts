import { z } from 'zod';
import { activation } from './activations.ts';
import { dateTime, id, integer, namedObject, requiredText } from './common.ts';
import { route, staffWith } from './route.ts';

/** For how many days a license file is valid. */
export const licenseFileDays = { least: 1, most: 366, byDefault: 90 };

/** The maximum length of the signed text of a machine, pasted or from a file. */
export const mostSignedText = 4000;

/** A compact JWS; spaces, line breaks and invisible characters, as pasting adds them, are removed. */
const signedText = (missing: string) =>
  requiredText(mostSignedText, missing).transform((typed) => typed.replaceAll(/[\s\p{Cf}]/gu, ''));

const byId = z.object({ id });
const canUpdate = staffWith('licenses', 'update');

/** Licenses for machines without a network: a request becomes a license file, a receipt gives the seat back. */
export const offline = {
  issue: route('POST', '/api/v1/licenses/{id}/offline', {
    summary: 'Issue a license file for a machine without a network; it holds a seat until it ends',
    access: canUpdate,
    params: byId,
    body: z.strictObject({
      request: signedText('Request is required').meta({
        description:
          'What the program on the machine shows: a JWS signed by the machine (lanyard-request+jwt)',
      }),
      days: integer(licenseFileDays.least, licenseFileDays.most).default(licenseFileDays.byDefault),
    }),
    answer: namedObject('IssuedLicenseFile', {
      licenseFile: z
        .string()
        .meta({ description: 'The text for the machine: a JWS signed by the service (lanyard-license+jwt)' }),
      fileName: z.string().meta({ description: 'For saving it as a file' }),
      fileId: z.string().meta({ description: '`jti` of the license file' }),
      endsAt: dateTime.meta({
        description:
          'When the machine stops running at the latest: `exp` of the license file plus its `grace`',
      }),
      activation,
    }),
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  giveBack: route('POST', '/api/v1/licenses/{id}/offline/return', {
    summary: 'Free the seat of an offline machine with the receipt that its program made',
    access: canUpdate,
    params: byId,
    body: z.strictObject({
      receipt: signedText('Receipt is required').meta({
        description: 'A JWS signed by the machine (lanyard-return+jwt)',
      }),
    }),
    answer: activation,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
};
