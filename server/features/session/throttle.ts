import { sql } from 'kysely';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';

const windowMs = 15 * 60_000;
/** Failures in a window after which sign-in is refused; an office shares one address. */
const mostFailures = { account: 10, address: 100 };

export type Attempt = { subjects: { account: string; address: string }; windowStart: Date };

/**
 * Counts an attempt as failed before the password is looked at, so that many at once cannot slip past the limit;
 * `succeeded` takes it back. Answers the attempt, or the seconds to wait where the limit is passed.
 */
export async function beginAttempt(
  db: Db,
  by: Caller,
  email: string,
): Promise<Attempt | { retryAfter: number }> {
  const windowStart = new Date(Math.floor(by.now.getTime() / windowMs) * windowMs);
  const subjects = { account: `account:${email.toLowerCase()}`, address: `address:${by.ip}` };
  const { rows } = await sql<{ subject: string; failures: number }>`
    insert into login_failures (subject, window_start, failures)
    values (${subjects.account}, ${windowStart}, 1), (${subjects.address}, ${windowStart}, 1)
    on conflict (subject, window_start) do update set failures = login_failures.failures + 1
    returning subject, failures`.execute(db);
  const failures = (subject: string) => rows.find((row) => row.subject === subject)!.failures;
  const throttled =
    failures(subjects.account) > mostFailures.account || failures(subjects.address) > mostFailures.address;
  if (!throttled) return { subjects, windowStart };
  return { retryAfter: Math.ceil((windowStart.getTime() + windowMs - by.now.getTime()) / 1000) };
}

/** Only failures count: a sign-in that succeeded takes its attempt back. */
export async function succeeded(tx: Tx, { subjects, windowStart }: Attempt): Promise<void> {
  await sql`
    update login_failures set failures = failures - 1
     where window_start = ${windowStart} and subject in (${subjects.account}, ${subjects.address})`.execute(
    tx,
  );
}
