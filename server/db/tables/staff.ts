import type { ColumnType, Generated } from 'kysely';
import type { Action, Resource } from '../../../contract/permissions.ts';
import type { Screen } from '../../../contract/screens.ts';
import type { ApiKeyScope } from '../../../contract/route.ts';

/** Users, their sessions and views, and API keys. */
export type StaffTables = {
  users: {
    user_id: string;
    email: string;
    name: string;
    password_hash: string;
    status: Generated<'active' | 'inactive'>;
    created_at: Date;
    updated_at: Date;
    last_sign_in_at: Date | null;
    totp_secret: string | null;
    totp_confirmed_at: Date | null;
    totp_last_step: number | null;
    password_is_own: Generated<boolean>;
    first_screen: Screen | null;
  };
  recovery_codes: { user_id: string; code_hash: Buffer; is_argon2: Generated<boolean> };
  roles: {
    role_id: string;
    description: string;
    built_in: Generated<boolean>;
    requires_second_factor: Generated<boolean>;
    updated_at: Generated<Date>;
  };
  role_permissions: { role_id: string; resource: Resource; action: Action };
  user_roles: { user_id: string; role_id: string };
  sessions: {
    session_id: string;
    user_id: string;
    cookie_hash: Buffer;
    access_hash: Buffer;
    access_expires_at: Date;
    created_at: Date;
    last_seen_at: Date;
    ip_address: string;
    user_agent: string;
    ended_at: Date | null;
    end_reason: string | null;
  };
  rotated_cookies: { cookie_hash: Buffer; session_id: string; rotated_at: Date };
  login_failures: { subject: string; window_start: Date; failures: number };
  api_keys: {
    api_key_id: string;
    name: string;
    key_prefix: string;
    secret_hash: Buffer;
    scopes: ApiKeyScope[];
    is_active: Generated<boolean>;
    revoked_at: Date | null;
    expires_at: Date | null;
    rate_limit: number;
    ip_whitelist: string[];
    total_requests: Generated<number>;
    last_used_at: Date | null;
    last_used_ip: Generated<string | null>;
    created_by: string | null;
    maker_email: string | null;
    created_at: Date;
    updated_at: Date;
  };
  budget_hours: { budget: string; subject: string; hour: Date; granted: number; told_at: Date | null };
  idempotency_keys: {
    actor: string;
    key: string;
    request_hash: Buffer;
    answer: ColumnType<unknown, string | null, string | null>;
    created_at: Date;
  };
  saved_views: {
    view_id: string;
    list: string;
    name: string;
    query: string;
    shared: boolean;
    owner_id: string | null;
    created_at: Date;
    updated_at: Date;
    deleted_at: Generated<Date | null>;
  };
};
