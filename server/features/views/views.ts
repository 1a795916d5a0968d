import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { RouteInput } from '../../../contract/route.ts';
import {
  mostViews,
  viewLists,
  type SavedView,
  type ViewList,
  type views as calls,
} from '../../../contract/views.ts';
import { may, mayRead, staffOf, type Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import { orTaken, type Db } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import { editRecord, type Editable } from '../../edit-record.ts';
import { fail, isFailure, noSuch, type Failure } from '../../failure.ts';

type Patch = RouteInput<typeof calls.update>['body'];
type Columns = Pick<Patch, 'name' | 'query' | 'shared'> & { deleted_at?: Date | null };

const notFound = noSuch('view');
const notYours = fail('RULE_VIOLATED', 'Only its owner or an administrator may change a shared view.');
const ownerless = fail(
  'RULE_VIOLATED',
  'Its owner was deleted, so nobody would see it. Delete the view instead.',
);
const tooMany = fail('RULE_VIOLATED', `You have ${mostViews} views already. Delete one first.`);
const isTaken = 'There is a view with this name already.';
const taken = fail('ALREADY_EXISTS', isTaken, { details: [{ path: 'name', message: isTaken }] });

const mayReadList = (by: Caller, list: ViewList): boolean => mayRead(by, viewLists[list]);

function selectViews(db: Db) {
  return db
    .selectFrom('saved_views as v')
    .leftJoin('users as u', 'u.user_id', 'v.owner_id')
    .select(['v.view_id', 'v.list', 'v.name', 'v.query', 'v.shared', 'v.owner_id', 'v.updated_at'])
    .select('u.name as owner_name');
}

const visibleTo = (by: Caller) => sql<boolean>`(v.shared or v.owner_id = ${staffOf(by)?.userId ?? null})`;

type Row = Awaited<ReturnType<ReturnType<typeof selectViews>['executeTakeFirstOrThrow']>>;

function toView(by: Caller, row: Row): SavedView {
  const me = staffOf(by);
  const isOwn = row.owner_id !== null && row.owner_id === me?.userId;
  return {
    id: row.view_id,
    list: row.list as ViewList,
    name: row.name,
    query: row.query,
    shared: row.shared,
    isOwn,
    ownerName: row.owner_id === null ? null : (row.owner_name ?? ''),
    mayChange: isOwn || may(by, 'users', 'update'),
    updatedAt: row.updated_at.toISOString(),
  };
}

const mostListed = 500;

/** The caller's own views and the shared ones, by name. Without `list`: of all lists that the caller may read. */
export async function listViews(
  db: Db,
  by: Caller,
  list: ViewList | undefined,
): Promise<SavedView[] | Failure> {
  if (list && !mayReadList(by, list)) return lacking(list);
  const readable = (Object.keys(viewLists) as ViewList[]).filter((one) => mayReadList(by, one));
  const wanted = list ? [list] : readable;
  if (wanted.length === 0) return [];
  // shared ones of others must not keep own ones out
  const shown = db
    .selectFrom('saved_views as v')
    .select('v.view_id')
    .where(visibleTo(by))
    .where('v.list', 'in', wanted)
    .where('v.deleted_at', 'is', null)
    .orderBy(sql`v.owner_id is not distinct from ${staffOf(by)?.userId ?? null}`, 'desc')
    .orderBy(sql`sort_key(v.name)`)
    .orderBy('v.view_id')
    .limit(mostListed);
  const rows = await selectViews(db)
    .where('v.view_id', 'in', shown)
    .orderBy(sql`sort_key(v.name)`)
    .orderBy('v.view_id')
    .execute();
  return rows.map((row) => toView(by, row));
}

const lacking = (list: ViewList) => fail('FORBIDDEN', `You lack the permission ${viewLists[list]}:read.`);

/** Saves a view of the caller. */
export async function createView(
  change: Change,
  { list, name, query, shared }: RouteInput<typeof calls.create>['body'],
): Promise<SavedView | Failure> {
  const { tx, by, now } = change;
  const me = staffOf(by);
  if (!me || !mayReadList(by, list)) return lacking(list);
  const full = await refuseMore(change, me.userId);
  if (full) return full;
  const view_id = uuidv7();
  const inserted = await orTaken(
    tx
      .insertInto('saved_views')
      .values({
        view_id,
        list,
        name,
        query,
        shared,
        owner_id: me.userId,
        created_at: now,
        updated_at: now,
      })
      .execute(),
    'saved_views_name',
    () => taken,
  );
  if (isFailure(inserted)) return inserted;
  const view = await readView(change, view_id);
  if (shared) await change.audit('view.created', view, { after: audited(view) });
  return view;
}

/** Refuses a view beyond the limit; a lock on the owner lets two calls at once not both take the last place. */
async function refuseMore({ tx }: Change, userId: string): Promise<Failure | undefined> {
  await tx.selectFrom('users').select('user_id').where('user_id', '=', userId).forNoKeyUpdate().execute();
  const count = await countOf(
    tx.selectFrom('saved_views').where('owner_id', '=', userId).where('deleted_at', 'is', null),
  );
  return count >= mostViews ? tooMany : undefined;
}

/** Changes name, filters or visibility of a view. Audited where others see it, or saw it. */
export const updateView = (
  change: Change,
  id: string,
  { updatedAt: _updatedAt, ...sent }: Patch,
  seen: string | undefined,
): Promise<SavedView | Failure> =>
  editRecord<'view.updated', SavedView, Columns>(change, viewOf(false), id, {
    event: (before, after) => (before.shared || after.shared ? 'view.updated' : undefined),
    named: (before, after) => (after.shared ? after : before),
    check: (view) =>
      refuseChange(view) ??
      // nobody would see it, or could delete it
      (view.ownerName === null && sent.shared === false ? ownerless : undefined),
    sent,
    seen,
    columns: sent,
  });

/** Deletes a view. It can be restored until its owner loses another one. */
export async function deleteView(change: Change, id: string): Promise<undefined | Failure> {
  const deleted = await editRecord<'view.deleted', SavedView, Columns>(change, viewOf(false), id, {
    event: ({ shared }) => (shared ? 'view.deleted' : undefined),
    check: refuseChange,
    columns: { deleted_at: change.now },
  });
  if (isFailure(deleted)) return deleted;
  await change.tx
    .deleteFrom('saved_views as v')
    .where('v.deleted_at', 'is not', null)
    .where('v.view_id', '!=', id)
    .where('v.owner_id', 'is not distinct from', (eb) =>
      eb.selectFrom('saved_views').select('owner_id').where('view_id', '=', id),
    )
    .execute();
  return undefined;
}

/** Undoes the deletion of a view. */
export const restoreView = (change: Change, id: string): Promise<SavedView | Failure> =>
  editRecord<'view.restored', SavedView, Columns>(change, viewOf(true), id, {
    event: ({ shared }) => (shared ? 'view.restored' : undefined),
    check: (view) => {
      const me = staffOf(change.by);
      return refuseChange(view) ?? (me && view.isOwn ? refuseMore(change, me.userId) : undefined);
    },
    columns: { deleted_at: null },
  });

const refuseChange = ({ mayChange }: SavedView): Failure | undefined => (mayChange ? undefined : notYours);

/** Name and filters of a view exist for nobody else while it is not shared. */
const audited = ({ name, query, shared }: SavedView) => (shared ? { name, query, shared } : { shared });

/** Views that the caller cannot see do not exist for them. */
const viewOf = (isDeleted: boolean): Editable<SavedView, Columns> => ({
  name: 'view',
  audited,
  async lock({ tx, by }, id) {
    const row = await selectViews(tx)
      .where('v.view_id', '=', id)
      .where(visibleTo(by))
      .where('v.deleted_at', isDeleted ? 'is not' : 'is', null)
      .forUpdate('v')
      .executeTakeFirst();
    return row && mayReadList(by, row.list as ViewList) ? toView(by, row) : notFound;
  },
  async write(change, { id }, columns) {
    const written = await orTaken(
      change.tx.updateTable('saved_views').set(columns).where('view_id', '=', id).execute(),
      'saved_views_name',
      () => taken,
    );
    return isFailure(written) ? written : readView(change, id);
  },
});

/** Any view: an administrator may stop sharing one of another user. */
const readView = async ({ tx, by }: Change, id: string): Promise<SavedView> =>
  toView(by, await selectViews(tx).where('v.view_id', '=', id).executeTakeFirstOrThrow());
