import { sql, type SqlBool } from 'kysely';
import { hasPermission, permit } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { session as calls } from '../../../contract/session.ts';
import type { Staff } from '../../caller.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/client.ts';
import { permissionsOfUser, secondFactorMissing } from '../../db/sql.ts';

/** The roles of the user `u`. */
export const rolesOfUser = sql<string[]>`coalesce((select json_agg(r.role_id order by r.role_id)
  from user_roles r where r.user_id = u.user_id), '[]')`.as('roles');

const rights = [
  'u.totp_confirmed_at',
  'u.password_is_own',
  'u.first_screen',
  rolesOfUser,
  permissionsOfUser,
  secondFactorMissing,
] as const;

/** The account with this email, in any case, with its permissions. */
export function findUser(db: Db, email: string) {
  return db
    .selectFrom('users as u')
    .select(['u.user_id', 'u.email', 'u.name', 'u.status', 'u.password_hash', ...rights])
    .where(sql`lower(u.email)`, '=', sql<string>`lower(${email})`)
    .executeTakeFirst();
}

/**
 * The open session with a token hash, with the user and their permissions. A cookie replaced by a rotation still finds
 * its session, with `rotated_at`.
 */
export function loadSession(db: Db, hash: Buffer, kind: Staff['via']) {
  return db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.user_id', 's.user_id')
    .leftJoin('rotated_cookies as r', (join) =>
      join.onRef('r.session_id', '=', 's.session_id').on('r.cookie_hash', '=', hash),
    )
    .select(['s.session_id', 's.cookie_hash', 's.access_expires_at', 's.created_at', 's.last_seen_at'])
    .select('r.rotated_at')
    .select(['u.user_id', 'u.email', 'u.name', ...rights])
    .where((eb) => (kind === 'bearer' ? eb('s.access_hash', '=', hash) : hasCookie(hash)))
    .where('s.ended_at', 'is', null)
    .where('u.status', '=', 'active')
    .executeTakeFirst();
}

/** The condition for the session `s` of a cookie, rotated or not. */
export const hasCookie = (hash: Buffer) =>
  sql<SqlBool>`(s.cookie_hash = ${hash}
    or s.session_id = (select session_id from rotated_cookies where cookie_hash = ${hash}))`;

export type SessionRow = NonNullable<Awaited<ReturnType<typeof loadSession>>>;
export type FoundUser = NonNullable<Awaited<ReturnType<typeof findUser>>>;

/** The identity and permissions of a session or an account. */
export type Identity = Omit<Staff, 'kind' | 'sessionId' | 'via'>;

/** A user whose only role is this one uses API keys and cannot sign in. */
export const isServiceAccount = ({ roles }: { roles: string[] }): boolean =>
  roles.length > 0 && roles.every((role) => role === 'service_account');

export function toIdentity(
  row: FoundUser | SessionRow,
  { requireOwnPassword }: Pick<Config, 'requireOwnPassword'>,
): Identity {
  const asksForPassword = !row.password_is_own;
  const asksForFactor = !row.totp_confirmed_at && hasPermission(row.permissions, permit('users', 'update'));
  const ownPasswordMissing = requireOwnPassword && asksForPassword;
  const isHeldBack = row.second_factor_missing || ownPasswordMissing;
  return {
    userId: row.user_id,
    email: row.email,
    name: row.name,
    roles: row.roles,
    permissions: isHeldBack ? [] : row.permissions,
    secondFactorMissing: row.second_factor_missing,
    ownPasswordMissing,
    firstScreen: row.first_screen,
    advice: isHeldBack
      ? []
      : [
          ...(asksForPassword ? ['password' as const] : []),
          ...(asksForFactor ? ['secondFactor' as const] : []),
        ],
  };
}

/** The row as an actor; `via` is the kind of credential. */
export const toStaff = (row: SessionRow, via: Staff['via'], config: Config): Staff => ({
  kind: 'staff',
  sessionId: row.session_id,
  via,
  ...toIdentity(row, config),
});

/** The user with permissions and roles, as `GET /api/v1/auth/me` returns them. */
export const me = (identity: Identity): RouteAnswer<typeof calls.me> => ({
  user: { userId: identity.userId, email: identity.email, name: identity.name },
  permissions: identity.permissions,
  roles: identity.roles.map((name) => ({ name })),
  secondFactorMissing: identity.secondFactorMissing,
  ownPasswordMissing: identity.ownPasswordMissing,
  firstScreen: identity.firstScreen,
  advice: identity.advice,
});
