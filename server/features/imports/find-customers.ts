import { sql } from 'kysely';
import { asLine } from '../../../contract/common.ts';
import { isUuid } from '../../../contract/text.ts';
import { addToList } from '../../add-to-list.ts';
import type { Db } from '../../db/client.ts';
import { sigmaForms } from '../../db/sql.ts';

type FoundCustomer = { customer_id: string; name: string; country: string; deleted_at: Date | null };

/** Names are the same without regard to case, to kinds of spaces, and to how accents are encoded. */
export const nameKey = (name: string): string => asLine(name).toLowerCase().normalize('NFC');

/** The customers with these names or ids, soft-deleted ones included, by the key of the name and by id. */
export async function findCustomers(db: Db, texts: string[]): Promise<Map<string, FoundCustomer[]>> {
  const ids = texts.filter(isUuid);
  const { rows } = await sql<FoundCustomer>`
    select customer_id, name, country, deleted_at from customers
     where sort_key(name) = any(array(select sort_key(text) from unnest(${texts.map(asLine).flatMap(sigmaForms)}::text[]) text))
        or customer_id = any(${ids}::uuid[])
     order by created_at, customer_id`.execute(db);
  const found = new Map<string, FoundCustomer[]>();
  for (const row of rows) for (const key of [nameKey(row.name), row.customer_id]) addToList(found, key, row);
  return found;
}
