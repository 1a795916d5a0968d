import { timingSafeEqual } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { personOf } from '../../caller.ts';
import type { Change } from '../../change.ts';
import type { Cookie } from '../../http/call.ts';
import type { Secrets } from '../../secrets.ts';
import type { FoundUser } from './session-row.ts';

/** A browser, and the marks of the users who signed in there, the last first. */
type Device = { id: string; people: string[] };

/** Limits the cookie of a shared browser. */
const mostPeople = 10;

const content = z.object({ id: z.uuid(), people: z.array(z.string()) });

const marked = ['user_id', 'password_hash', 'totp_confirmed_at'] as const;
type Marked = Pick<FoundUser, (typeof marked)[number]>;

/** Stands for a user with the present password and second factor: who signed in before a change may be somebody else. */
export const markOf = (secrets: Secrets, { user_id, password_hash, totp_confirmed_at }: Marked): string =>
  secrets
    .sign('credentials', JSON.stringify([user_id, password_hash, totp_confirmed_at]))
    .toString('base64url');

/** The device of a cookie; undefined for a cookie that this installation did not sign. */
export function readDevice(secrets: Secrets, cookie: string | undefined): Device | undefined {
  const [text = '', signature = ''] = cookie?.split('.') ?? [];
  const [expected, given] = [secrets.sign('device', text), Buffer.from(signature, 'base64url')];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return content.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
}

/** The cookie of a device after a sign-in of the user with this mark. */
export function deviceCookie(secrets: Secrets, device: Device | undefined, mark: string): string {
  const people = [mark, ...(device?.people ?? []).filter((other) => other !== mark)];
  const known: Device = { id: device?.id ?? uuidv7(), people: people.slice(0, mostPeople) };
  const text = Buffer.from(JSON.stringify(known)).toString('base64url');
  return `${text}.${secrets.sign('device', text).toString('base64url')}`;
}

/**
 * Gives the browser the caller's mark after a change of the password or second factor. Guesses elsewhere can delay those
 * for whom the browser is new: without the mark, also the user who has just proven the password there.
 */
export async function renewDevice(change: Change, secrets: Secrets, cookie: Cookie): Promise<void> {
  const { userId } = personOf(change.by);
  const user = await change.tx
    .selectFrom('users')
    .select(marked)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  cookie.set(deviceCookie(secrets, readDevice(secrets, cookie.value), markOf(secrets, user)));
}
