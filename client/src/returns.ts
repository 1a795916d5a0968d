import { isObject, jsonObject } from './jws.ts';
import { whyHeld, type Parts } from './parts.ts';

/** A license file that was given back, and the receipt for it. `unfinished`: token and kept answer may still be there. */
export type Return = { issuedAt: number; receipt: string; unfinished: boolean };

const receiptFile = 'receipt.json';

const readReturns = async ({ store }: Parts) => jsonObject(await store.read(receiptFile)) ?? {};

/** The file of this license that was given back last, and its receipt. Each license that used the folder has its own. */
export async function lastReturn(parts: Parts): Promise<Return | undefined> {
  const last = (await readReturns(parts))[parts.licenseKey];
  const { issuedAt, receipt, unfinished } = isObject(last) ? last : {};
  return typeof issuedAt === 'number' && typeof receipt === 'string'
    ? { issuedAt, receipt, unfinished: unfinished === true }
    : undefined;
}

/** Why the receipts cannot be read at the moment; undefined if they can, or there are none. */
export const receiptsHeld = (parts: Parts): Promise<string | undefined> => whyHeld(parts, receiptFile);

/** Stores the receipt of a license file that is given back. Returns the problem, if there is one. */
export async function keepReturn(parts: Parts, last: Return): Promise<string | undefined> {
  const held = await receiptsHeld(parts);
  if (held !== undefined) return held;
  const returns = { ...(await readReturns(parts)), [parts.licenseKey]: last };
  return parts.store.write(receiptFile, JSON.stringify(returns));
}
