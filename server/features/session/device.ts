import { timingSafeEqual } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Secrets } from '../../secrets.ts';

/** A browser, and the users who signed in there, the last first. */
type Device = { id: string; people: string[] };

/** Limits the cookie of a shared browser. */
const mostPeople = 10;

const content = z.object({ id: z.uuid(), people: z.array(z.uuid()) });

/** The device of a cookie; undefined for a cookie that this installation did not sign. */
export function readDevice(secrets: Secrets, cookie: string | undefined): Device | undefined {
  const [text = '', signature = ''] = cookie?.split('.') ?? [];
  const [expected, given] = [secrets.sign('device', text), Buffer.from(signature, 'base64url')];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return content.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
}

/** The cookie of a device after a sign-in of this user. */
export function deviceCookie(secrets: Secrets, device: Device | undefined, userId: string): string {
  const people = [userId, ...(device?.people ?? []).filter((other) => other !== userId)];
  const known: Device = { id: device?.id ?? uuidv7(), people: people.slice(0, mostPeople) };
  const text = Buffer.from(JSON.stringify(known)).toString('base64url');
  return `${text}.${secrets.sign('device', text).toString('base64url')}`;
}
