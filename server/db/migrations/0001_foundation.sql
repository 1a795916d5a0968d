-- Every *_at is timestamptz(3): milliseconds, as they travel in JSON. Ids are UUIDv7, made by the server.
-- pg_trgm is a trusted extension: the owner of the database may create it.
create extension if not exists pg_trgm;

-- People, roles and rights.

create table users (
  user_id       uuid primary key,
  email         text not null,
  name          text not null,
  password_hash text not null,
  status        text not null default 'active' check (status in ('active', 'inactive')),
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null
);
create unique index users_email on users (lower(email));

create table roles (
  role_id     text primary key,
  description text not null
);

create table role_permissions (
  role_id  text not null references roles on delete cascade,
  resource text not null,
  action   text not null,
  primary key (role_id, resource, action)
);

create table user_roles (
  user_id uuid not null references users on delete cascade,
  role_id text not null references roles,
  primary key (user_id, role_id)
);

-- One row per sign-in. Tokens are random and stored as SHA-256.
create table sessions (
  session_id             uuid primary key,
  user_id                uuid not null references users on delete cascade,
  cookie_hash            bytea not null,
  access_hash            bytea not null,
  access_expires_at      timestamptz(3) not null,
  created_at             timestamptz(3) not null,
  last_seen_at           timestamptz(3) not null,
  ip_address             text not null,
  user_agent             text not null,
  ended_at               timestamptz(3),
  end_reason             text
);
create unique index sessions_cookie on sessions (cookie_hash);
create unique index sessions_access on sessions (access_hash);
create index sessions_user on sessions (user_id) where ended_at is null;

-- Cookies that a rotation replaced: when one comes back it can be told from an unknown one.
create table rotated_cookies (
  cookie_hash bytea primary key,
  session_id  uuid not null references sessions on delete cascade,
  rotated_at  timestamptz(3) not null
);
create index rotated_cookies_session on rotated_cookies (session_id);

-- Failed sign-ins per account and per address, counted in fixed windows that hold across processes.
create table login_failures (
  subject      text not null,
  window_start timestamptz(3) not null,
  failures     integer not null,
  primary key (subject, window_start)
);

-- API keys. Requests of an hour are granted to processes in blocks, see api-keys.

create table api_keys (
  api_key_id     uuid primary key,
  name           text not null,
  key_prefix     text not null unique,
  secret_hash    bytea not null,
  scopes         text[] not null,
  is_active      boolean not null default true,
  expires_at     timestamptz(3),
  rate_limit     integer not null check (rate_limit >= 1),
  ip_whitelist   text[] not null default '{}',
  total_requests bigint not null default 0,
  last_used_at   timestamptz(3),
  created_by     uuid references users on delete set null,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null
);

create table api_key_hours (
  api_key_id uuid not null references api_keys on delete cascade,
  hour       timestamptz(3) not null,
  granted    integer not null,
  primary key (api_key_id, hour)
);

-- Customers, modules, licenses, activations (spec part 1, section 3).

-- How names are ordered, in every database alike: without case and accents, so that Ärztehaus stands at A. Letters
-- that no accent makes are put beside the one they look like.
create function sort_key(name text) returns text language sql immutable strict parallel safe as $$
  select translate(regexp_replace(normalize(lower(name), nfkd), '[\u0300-\u036f]', '', 'g'), 'øłđı', 'oldi')
$$;

create table customers (
  customer_id      uuid primary key,
  name             text not null,
  contact_name     text,
  email            text,
  phone            text,
  country          char(2) not null,
  type             text not null default 'organization',
  status           text not null default 'active' check (status in ('active', 'inactive')),
  inherit_licenses boolean not null default false,
  deleted_at       timestamptz(3),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null
);
create index customers_name on customers (sort_key(name), customer_id);
create index customers_search on customers using gin ((lower(name || E'\n' || coalesce(email, ''))) gin_trgm_ops);
create index customers_deleted on customers (deleted_at) where deleted_at is not null;

create table modules (
  module_id   text primary key,
  name        text not null,
  description text not null,
  category    text
);

-- customer_sort and search_text are kept by triggers, so that the list of 100,000 licenses is one index scan.
-- current_activations counts the active rows of activations: it is the guard that makes seats exact.
create table licenses (
  license_id          uuid primary key,
  license_key         text not null unique,
  customer_id         uuid not null references customers on delete cascade,
  type                text not null check (type in ('trial', 'enterprise')),
  status              text not null default 'active' check (status in ('active', 'revoked')),
  valid_from          timestamptz(3) not null,
  valid_until         timestamptz(3) not null,
  max_activations     integer not null check (max_activations >= 1),
  current_activations integer not null default 0 check (current_activations >= 0),
  module_ids          text[] not null default '{}',
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,
  customer_sort       text not null default '',
  search_text         text not null default '',
  check (valid_until > valid_from)
);
create index licenses_by_customer on licenses (customer_id, status, valid_until);
-- valid_until stands last so that the tab is told in the index, without a look at each row
create index licenses_in_groups on licenses
  (status, customer_sort, customer_id, created_at, license_id, valid_until);
create index licenses_by_expiry on licenses (status, valid_until, license_id);
create index licenses_search on licenses using gin (search_text gin_trgm_ops);

create table activations (
  activation_id   uuid primary key,
  license_id      uuid not null references licenses on delete cascade,
  machine_id      text not null,
  status          text not null check (status in ('active', 'deactivated', 'released')),
  activation_type text not null check (activation_type in ('automatic', 'manual')),
  hostname        text,
  platform        text,
  architecture    text,
  os_version      text,
  app_version     text,
  last_checked_at timestamptz(3),
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  unique (license_id, machine_id)
  -- every validation notes when the machine was last seen: room on the page keeps the indexes out of that
) with (fillfactor = 85);

-- What the license search of spec part 1, section 2 looks through, in lower case: key, type, the long date of
-- validUntil, customer name, module names raw and with spaces. The status is derived from the clock and is
-- matched by the query instead.
create function license_search_text(l licenses, customer_name text) returns text language sql immutable as $$
  select lower(concat_ws(E'\n',
    l.license_key,
    l.type,
    -- "November 20, 2026": FMMonth follows the session's language, so the names stand here
    (array['January','February','March','April','May','June','July','August','September','October','November',
      'December'])[extract(month from l.valid_until at time zone 'UTC')::int]
      || ' ' || extract(day from l.valid_until at time zone 'UTC')::int
      || ', ' || extract(year from l.valid_until at time zone 'UTC')::int,
    customer_name,
    array_to_string(l.module_ids, ' '),
    replace(array_to_string(l.module_ids, E'\n'), '_', ' ')))
$$;

create function licenses_denormalize() returns trigger language plpgsql as $$
declare
  owner text;
begin
  select name into owner from customers where customer_id = new.customer_id;
  new.customer_sort := sort_key(coalesce(owner, ''));
  new.search_text := license_search_text(new, coalesce(owner, ''));
  return new;
end $$;
create trigger licenses_denormalize
  before insert or update of license_key, type, valid_until, customer_id, module_ids, customer_sort on licenses
  for each row execute function licenses_denormalize();

create function customers_rename_licenses() returns trigger language plpgsql as $$
begin
  update licenses set customer_sort = '' where customer_id = new.customer_id;
  return null;
end $$;
create trigger customers_rename_licenses
  after update of name on customers for each row when (old.name is distinct from new.name)
  execute function customers_rename_licenses();

-- Every answered validation; written in batches. Neither license nor key is a foreign key: the record outlives both.
create table validations (
  validation_id bigint generated always as identity primary key,
  occurred_at   timestamptz(3) not null,
  code          text not null,
  duration_us   integer not null,
  license_id    uuid,
  customer_id   uuid,
  machine_id    text,
  api_key_id    uuid,
  app_version   text
);
create index validations_by_time on validations using brin (occurred_at);

-- Audit: append-only. user_id is no foreign key, the entry outlives the person.
create table audit_entries (
  audit_id        uuid primary key,
  timestamp       timestamptz(3) not null,
  user_id         uuid,
  user_email      text,
  user_role       text,
  event_type      text not null,
  resource_type   text not null,
  resource_id     text,
  changes_summary text not null,
  before          jsonb,
  after           jsonb,
  api_endpoint    text,
  ip_address      text,
  user_agent      text,
  request_id      text,
  success         boolean not null,
  error_message   text
);
create index audit_entries_time on audit_entries (timestamp desc, audit_id desc);
create index audit_entries_resource on audit_entries (resource_type, resource_id, timestamp desc);

create function audit_entries_append_only() returns trigger language plpgsql as $$
begin
  -- the retention job says who it is; nothing else may touch an entry
  if tg_op = 'DELETE' and current_setting('lanyard.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'audit entries are append-only';
end $$;
create trigger audit_entries_append_only
  before update or delete on audit_entries for each row execute function audit_entries_append_only();
create trigger audit_entries_no_truncate
  before truncate on audit_entries execute function audit_entries_append_only();

-- The first answer to a write that carried an Idempotency-Key, kept a day.
create table idempotency_keys (
  actor        text not null,
  key          text not null,
  request_hash bytea not null,
  status       integer not null,
  answer       jsonb,
  created_at   timestamptz(3) not null,
  primary key (actor, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
