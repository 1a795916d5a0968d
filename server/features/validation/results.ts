import { sql } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { validation as calls } from '../../../contract/validation.ts';
import type { Db } from '../../db/client.ts';
import { noSuch, type Failure } from '../../failure.ts';

type Result = RouteAnswer<typeof calls.ofLicense>[number];

const windowMs = 30 * dayMs;

/** The results of the validations of a license in the 30 days before `now`, the most frequent first. */
export async function resultsOfLicense(db: Db, now: Date, licenseId: string): Promise<Result[] | Failure> {
  const license = await db
    .selectFrom('licenses')
    .select('license_id')
    .where('license_id', '=', licenseId)
    .executeTakeFirst();
  if (!license) return noSuch('license');
  const { rows } = await sql<Result>`
    select code, count(*) as count, count(distinct machine_id) as machines from validations
     where license_id = ${licenseId} and occurred_at >= ${new Date(now.getTime() - windowMs)}
     group by code order by count(*) desc, code`.execute(db);
  return rows;
}
