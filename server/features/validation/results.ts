import { sql } from 'kysely';
import { daysFrom } from '../../../contract/durations.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { validationDays, type validation as calls } from '../../../contract/validation.ts';
import { isWithin } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';
import { createCountCache } from '../../db/count-cache.ts';
import { exists } from '../../db/sql.ts';
import { noSuch, type Failure } from '../../failure.ts';

type Result = RouteAnswer<typeof calls.ofLicense>[number];

const machinesIn = (results: Result[]) => results.reduce((all, { machines }) => all + machines, 0);

/** The results of the validations of a license in the 30 days before `now`, the most frequent first. */
export function createResultsOfLicense(db: Db) {
  const kept = createCountCache<Result[]>(100, machinesIn);
  return async (now: Date, licenseId: string): Promise<Result[] | Failure> => {
    if (!(await exists(db.selectFrom('licenses').where('license_id', '=', licenseId))))
      return noSuch('license');
    return kept(licenseId, () => countResults(db, now, licenseId));
  };
}

/** Reads every validation of the license: 900,000 of 5,000 machines that validate every four hours. */
async function countResults(db: Db, now: Date, licenseId: string): Promise<Result[]> {
  const { rows } = await sql<Result>`
    select code, count(*) as count, count(distinct machine_id) as machines from validations
     where license_id = ${licenseId} and ${isWithin('occurred_at', daysFrom(now, -validationDays), now)}
     group by code order by count(*) desc, code`.execute(db);
  return rows;
}
