-- The audit log's search and its sealed chain (docs/decisions/016-audit-chain.md).

-- mac: HMAC of the entry with a key outside of the database. Null for entries from before this migration.
alter table audit_entries add column mac bytea;

-- Every filter index ends in list order, so that a page is one index scan and a deep offset reads no rows.
drop index audit_entries_resource;
create index audit_entries_resource on audit_entries (resource_id, timestamp desc, audit_id desc);
create index audit_entries_type on audit_entries (resource_type, timestamp desc, audit_id desc);
create index audit_entries_event on audit_entries (event_type, timestamp desc, audit_id desc);
create index audit_entries_user on audit_entries (user_id, timestamp desc, audit_id desc);
create index audit_entries_search on audit_entries using gin ((lower(
  coalesce(user_email, '') || E'\n' || event_type || E'\n' || resource_type || E'\n' || coalesce(resource_id, '')
  || E'\n' || changes_summary || E'\n' || coalesce(api_endpoint, '') || E'\n' || coalesce(ip_address, '')
  || E'\n' || coalesce(error_message, ''))) gin_trgm_ops);
-- Entries are inserted singly and rarely searched: every search would read a large pending list.
alter index audit_entries_search set (gin_pending_list_limit = 256);

-- Entries to be sealed, in write order. Filled by a trigger, to include entries that commit late or are not ours.
create table audit_pending (
  position bigint generated always as identity primary key,
  audit_id uuid not null unique
);
insert into audit_pending (audit_id) select audit_id from audit_entries order by timestamp, audit_id;

create function audit_entries_await_seal() returns trigger language plpgsql as $$
begin
  insert into audit_pending (audit_id) select audit_id from added;
  return null;
end $$;
create trigger audit_entries_await_seal after insert on audit_entries
  referencing new table as added for each statement execute function audit_entries_await_seal();

create table audit_seals (
  sequence      bigint primary key,
  audit_id      uuid not null unique,
  entry_hash    bytea not null,
  previous_seal bytea not null,
  seal          bytea not null,
  sealed_at     timestamptz(3) not null
);

-- The end of the chain, so that a truncated chain is detected. Entries up to unsigned_until may lack a mac. mac is null
-- until the first seal.
create table audit_head (
  only_row       boolean primary key default true check (only_row),
  sequence       bigint not null,
  seal           bytea not null,
  unsigned_until bigint not null,
  mac            bytea
);
insert into audit_head (sequence, seal, unsigned_until)
  select 0, decode(repeat('00', 32), 'hex'), count(*) from audit_pending;

-- Where a clean-up removed the start of the chain: the last removed sequence and seal, signed.
create table audit_anchors (
  sequence  bigint primary key,
  seal      bytea not null,
  removed   bigint not null,
  before    timestamptz(3) not null,
  made_at   timestamptz(3) not null,
  key_id    text not null,
  signature text not null
);

create function audit_chain_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and tg_table_name = 'audit_seals'
    and current_setting('lanyard.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'the seals of the audit log are append-only';
end $$;
create trigger audit_seals_append_only
  before update or delete on audit_seals for each row execute function audit_chain_append_only();
create trigger audit_seals_no_truncate
  before truncate on audit_seals execute function audit_chain_append_only();
create trigger audit_anchors_append_only
  before update or delete on audit_anchors for each row execute function audit_chain_append_only();
create trigger audit_anchors_no_truncate
  before truncate on audit_anchors execute function audit_chain_append_only();

create table audit_settings (
  only_row       boolean primary key default true check (only_row),
  retention_days integer not null check (retention_days >= 90)
);
insert into audit_settings (retention_days) values (730);

-- Counted by the sealer once per entry, so that the statistics of a year are a few hundred rows.
create table audit_days (
  day        date not null,
  event_type text not null,
  user_email text not null,
  entries    integer not null,
  failed     integer not null,
  primary key (day, event_type, user_email)
);
