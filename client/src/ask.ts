import { randomUUID } from 'node:crypto';
import { readAnswer, signedAnswerIn, type Decision, type SignedAnswer } from './answer.ts';
import type { NoReply, Reply } from './http.ts';
import { enrollmentSignature } from './identity.ts';
import { isObject, jsonObject } from './jws.ts';
import type { Parts } from './parts.ts';
import type { LocalCode } from './types.ts';

/** A decision of the server, with the answer to keep. */
export type Decided = { decision: Decision; answer: SignedAnswer; problem: string | undefined };

/** No decision: `code` and `message` say what counts if nothing is kept. */
export type Undecided = {
  decision?: never;
  problem: string;
  code: LocalCode;
  message?: string | undefined;
  retryAfter?: number | undefined;
};

const sequenceFile = 'sequence';

/**
 * Asks the server whether this machine may run: by its token, or by enrolling it. `alone`: no other process asks at the
 * same time, so that the calls of the machine can be counted.
 */
export async function ask(parts: Parts, alone: boolean): Promise<Decided | Undecided> {
  const token = await parts.secrets.token();
  const byToken = token === undefined ? undefined : await validate(parts, token, alone);
  return byToken ?? enroll(parts);
}

/** Undefined if the token no longer counts. */
async function validate(
  parts: Parts,
  token: string,
  alone: boolean,
): Promise<Decided | Undecided | undefined> {
  const nonce = randomUUID();
  const sequence = alone ? await nextSequence(parts) : undefined;
  const reply = await parts.http('POST', '/api/licenses/validate', {
    headers: {
      'x-machine-token': token,
      ...(sequence === undefined ? {} : { 'x-machine-sequence': String(sequence) }),
    },
    body: { ...(await question(parts)), nonce },
  });
  if ('status' in reply && reply.status === 401) return undefined;
  return decisionOf(parts, reply, nonce);
}

/** Enrolls the machine, and stores the token that it gets if it may run. */
export async function enroll(parts: Parts): Promise<Decided | Undecided> {
  const identity = await parts.secrets.identity();
  if ('problem' in identity) return { problem: identity.problem, code: 'NO_MACHINE_KEY' };
  const nonce = randomUUID();
  const { licenseKey, machineId, ...facts } = await question(parts);
  const reply = await parts.http('POST', '/api/v1/machines/enroll', {
    body: {
      licenseKey,
      machineId,
      publicKey: identity.publicKey,
      nonce,
      signature: enrollmentSignature(identity, { nonce, machineId, licenseKey }),
      ...facts,
    },
  });
  const decided = await decisionOf(parts, reply, nonce);
  if (!decided.decision || !('text' in reply)) return decided;
  const token = dataOf(reply)?.['machineToken'];
  // a refused machine keeps its token: the server still lets it get updates
  if (typeof token !== 'string') return decided;
  const problem = await parts.secrets.setToken(token);
  return { ...decided, problem: decided.problem ?? problem };
}

async function question(parts: Parts) {
  return { licenseKey: parts.licenseKey, machineId: await parts.machineId(), ...parts.facts };
}

/** The number of this call, stored before it is made. Undefined if it cannot be known or stored: one would come twice. */
async function nextSequence({ store }: Parts): Promise<number | undefined> {
  const kept = await store.read(sequenceFile);
  if (kept === undefined && (await store.has(sequenceFile))) return undefined;
  const before = Number(kept);
  const next = Number.isSafeInteger(before) && before > 0 ? before + 1 : 1;
  return (await store.write(sequenceFile, String(next))) === undefined ? next : undefined;
}

async function decisionOf(parts: Parts, reply: Reply | NoReply, nonce: string): Promise<Decided | Undecided> {
  if ('problem' in reply) return { problem: reply.problem, code: 'NO_ANSWER' };
  if (reply.status !== 200) return refusedCall(reply);
  const answer = signedAnswerIn(dataOf(reply));
  if (!answer) return { problem: 'The answer is not one of a Lanyard server.', code: 'NO_ANSWER' };
  const expected = { licenseKey: parts.licenseKey, machineId: await parts.machineId(), nonce };
  const decision = await readAnswer(answer, parts.keys, expected);
  if (typeof decision === 'string')
    return { problem: `The answer is not authentic: ${decision}.`, code: 'NOT_AUTHENTIC' };
  if ('problem' in decision) return { problem: decision.problem, code: 'NO_ANSWER' };
  return { decision, answer, problem: undefined };
}

/** A status other than 200 is not signed, so it decides nothing. A server that refuses the call says why. */
function refusedCall({ status, text, retryAfter }: Reply): Undecided {
  const message = errorIn({ text });
  const problem = `The server answered ${status}${message ? `: ${message}` : ''}`;
  // without a message it came from a proxy on the way
  const isRefusal = message !== undefined && status >= 400 && status < 500 && status !== 429;
  return { problem, retryAfter, message, code: isRefusal ? 'NOT_ENROLLED' : 'NO_ANSWER' };
}

/** What the server says where it carried nothing out, such as that too many machines enrolled in this hour. */
export function errorIn({ text }: Pick<Reply, 'text'>): string | undefined {
  const error = jsonObject(text)?.['error'];
  return typeof error === 'string' && error.trim() ? error : undefined;
}

export function dataOf({ text }: Reply): Record<string, unknown> | undefined {
  const data = jsonObject(text)?.['data'];
  return isObject(data) ? data : undefined;
}
