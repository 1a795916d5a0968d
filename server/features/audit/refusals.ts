import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { networkOf } from '../../address.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { isDatabaseUnreachable } from '../../db/client.ts';
import type { Tx } from '../../db/client.ts';
import { runChange, systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { AuditKeys } from './keys.ts';
import { shortened } from './shortened.ts';

/** The kinds of refusals, as named by the metric. */
const refusalKinds = [
  'sign_in_failed',
  'sign_in_throttled',
  'code_required',
  'call_refused',
  'api_key_unknown',
  'api_key_revoked',
  'api_key_inactive',
  'api_key_expired',
  'api_key_address',
  'machine_token_unknown',
  'current_password_wrong',
  'rotated_cookie',
] as const;
type RefusalKind = (typeof refusalKinds)[number];

/**
 * `subject` identifies the caller or thing that was refused, with `perNetwork` together with the network of the caller:
 * an address alone would be many subjects of one machine. Refusals of the same kind and subject in a window share one
 * entry, which `audit` writes.
 */
export type Refusal = {
  kind: RefusalKind;
  subject: string;
  perNetwork?: boolean;
  audit: (change: Change) => Promise<string>;
};

export const refusalWindowMs = 15 * 60_000;
/** How many subjects per kind and window get entries of their own; the others share one. */
const subjectsOfAWindow = 50;
/** Failed sign-ins get single entries, up to the number that the throttle allows. */
const entriesPerWindow = (kind: RefusalKind) => (kind === 'sign_in_failed' ? 10 : 1);
/** The shared subject of refusals beyond the limit. */
const others = '';

export const windowOf = (now: Date) =>
  new Date(Math.floor(now.getTime() / refusalWindowMs) * refusalWindowMs);

const flushEveryMs = 1000;

type Counter = { windowStart: Date; kind: RefusalKind; subject: string; written: number; unsaved: number };

export type Refusals = ReturnType<typeof createRefusals>;

/**
 * Writes refusals into the audit log without letting an attacker flood it: the first of a subject immediately, the
 * others as a count when the window ends (`closeWindows`). Counts are saved every second, so that they hold across
 * processes; a killed process loses at most that second.
 */
export function createRefusals(context: ChangeParts & Pick<Context, 'clock' | 'log'>, keys: AuditKeys) {
  const { clock, log } = context;
  const counters = new Map<string, Counter>();
  const subjects = new Map<string, number>();
  const totals = new Map<RefusalKind, number>(refusalKinds.map((kind) => [kind, 0]));
  let saving: Promise<void> = Promise.resolve();

  /** Records a refusal of the call `by`. */
  async function record(by: Caller, { kind, subject, perNetwork, audit }: Refusal): Promise<void> {
    count(kind);
    const windowStart = windowOf(by.now);
    const whole = perNetwork ? `${subject} ${networkOf(by.ip)}` : subject;
    const counter = counterOf(windowStart, kind, hashOf(whole));
    if (counter.subject === others || counter.written >= entriesPerWindow(kind)) {
      counter.unsaved += 1;
      return;
    }
    counter.written += 1;
    try {
      // other processes have written as many as are allowed
      if (!(await writeFirst(context, by, counter, audit))) counter.written = Infinity;
    } catch (error) {
      // the next one gets the entry, or who was refused would never be known
      counter.written -= 1;
      counter.unsaved += 1;
      throw error;
    }
  }

  /** Only counts, for refusals whose entry is written with another change. */
  const count = (kind: RefusalKind) => void totals.set(kind, (totals.get(kind) ?? 0) + 1);

  function counterOf(windowStart: Date, kind: RefusalKind, subject: string): Counter {
    const group = `${windowStart.getTime()} ${kind}`;
    const known = counters.get(`${group} ${subject}`);
    if (known) return known;
    const n = subjects.get(group) ?? 0;
    if (subject !== others && n >= subjectsOfAWindow) return counterOf(windowStart, kind, others);
    if (subject !== others) subjects.set(group, n + 1);
    const counter = { windowStart, kind, subject, written: 0, unsaved: 0 };
    counters.set(`${group} ${subject}`, counter);
    return counter;
  }

  async function save(): Promise<void> {
    const unsaved = [...counters.values()].filter((one) => one.unsaved > 0);
    const rows = unsaved.map((one) => ({ ...one, times: one.unsaved }));
    for (const one of unsaved) one.unsaved = 0;
    try {
      if (rows.length > 0) await systemChange(context, clock(), ({ tx }) => addCounts(tx, rows));
    } catch (error) {
      for (const [n, one] of unsaved.entries()) one.unsaved += rows[n]?.times ?? 0;
      if (!isDatabaseUnreachable(error)) log.error({ err: error }, 'Refusals could not be counted');
      return;
    }
    const current = windowOf(clock()).getTime();
    for (const [key, one] of counters)
      if (one.windowStart.getTime() < current && one.unsaved === 0) counters.delete(key);
    for (const group of subjects.keys()) if (Number(group.split(' ')[0]) < current) subjects.delete(group);
  }

  const flush = () => (saving = saving.then(save));
  const timer = setInterval(() => void flush(), flushEveryMs).unref();
  return {
    record,
    count,
    flush,
    /** The short form of a text that matches no known name. */
    shortened: (text: string) => shortened(keys, text),
    totals: (): ReadonlyMap<RefusalKind, number> => totals,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}

const hashOf = (subject: string) => createHash('sha256').update(subject.toLowerCase()).digest('hex');

/** Counts one of the first refusals, and writes its entry unless other processes have already written enough. */
function writeFirst(
  parts: ChangeParts,
  by: Caller,
  { windowStart, kind, subject }: Counter,
  audit: Refusal['audit'],
): Promise<boolean> {
  return runChange(parts, by, async (change) => {
    const { tx } = change;
    const { rows } = await sql<{ entries: number }>`
      insert into audit_refusals as r (window_start, kind, subject, entries, times)
      select ${windowStart}, ${kind}, ${subject}, 0, 1
       where (select count(*) from audit_refusals where window_start = ${windowStart} and kind = ${kind})
             <= ${subjectsOfAWindow}
          or exists (select from audit_refusals
                      where window_start = ${windowStart} and kind = ${kind} and subject = ${subject})
      on conflict (window_start, kind, subject) do update set times = r.times + 1
      returning entries`.execute(tx);
    const [row] = rows;
    if (!row) await addCounts(tx, [{ windowStart, kind, subject: others, times: 1 }]);
    if (!row || row.entries >= entriesPerWindow(kind)) return false;
    const id = await audit(change);
    await sql`update audit_refusals set entries = entries + 1, first_entry = coalesce(first_entry, ${id}::uuid)
       where window_start = ${windowStart} and kind = ${kind} and subject = ${subject}`.execute(tx);
    return true;
  });
}

type Counted = Pick<Counter, 'windowStart' | 'kind' | 'subject'> & { times: number };

/** Refusals without an entry are added to the counts. */
async function addCounts(tx: Tx, rows: Counted[]): Promise<void> {
  await sql`
    insert into audit_refusals as r (window_start, kind, subject, entries, times)
    select window_start, kind, subject, 0, sum(times) from (
      select n.window_start, n.kind, coalesce(k.subject, ${others}) as subject, n.times
        from unnest(${rows.map((r) => r.windowStart)}::timestamptz[], ${rows.map((r) => r.kind)}::text[],
                    ${rows.map((r) => r.subject)}::text[], ${rows.map((r) => r.times)}::bigint[])
             as n (window_start, kind, subject, times)
        left join audit_refusals k using (window_start, kind, subject)) as counted
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (window_start, kind, subject) do update set times = r.times + excluded.times`.execute(tx);
}
