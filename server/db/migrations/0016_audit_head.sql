-- The end of the audit chain is also stored outside of the database, the retention switch requires a secret, and
-- refusals are summarized (docs/decisions/016-audit-chain.md, 024-refusals.md).

-- The mac of the head covers the retention: a change in audit_settings alone removes nothing.
alter table audit_head add column retention_days integer not null default 0;

-- The SHA-256 of the secret that opens the retention switch. Written once, when the chain begins, together with the
-- first head: without this row the chain has not begun.
create table audit_switch (
  only_row   boolean primary key default true check (only_row),
  opened_by  bytea not null
);

-- The guards look up audit_switch in this schema only, so that a temporary table cannot replace it.
do $migration$
declare
  guard constant text := $function$
    create or replace function %I() returns trigger language plpgsql set search_path = %I, pg_temp as $body$
    begin
      if tg_op = 'DELETE' and %L and exists (
        select from audit_switch where opened_by =
          sha256(convert_to(coalesce(current_setting('lanyard.audit_retention', true), ''), 'UTF8')))
      then return old; end if;
      raise exception '%s are append-only';
    end $body$
  $function$;
begin
  execute format(guard, 'audit_entries_append_only', current_schema(), true, 'audit entries');
  execute format(guard, 'audit_seals_append_only', current_schema(), true, 'the seals of the audit log');
  execute format(guard, 'audit_chain_append_only', current_schema(), false, 'the seals of the audit log');
end $migration$;

drop trigger audit_seals_append_only on audit_seals;
create trigger audit_seals_append_only
  before update or delete on audit_seals for each row execute function audit_seals_append_only();
create trigger audit_switch_append_only
  before update or delete on audit_switch for each row execute function audit_chain_append_only();
create trigger audit_switch_no_truncate
  before truncate on audit_switch execute function audit_chain_append_only();

-- Failures are rare and often searched for.
create index audit_entries_failed on audit_entries (timestamp desc, audit_id desc) where not success;

-- Refusals of a window: the first entries are written immediately, the rest are counted here until the window ends.
-- subject is a hash; the empty one counts all that exceed the budget of the window.
create table audit_refusals (
  window_start timestamptz(3) not null,
  kind         text not null,
  subject      text not null,
  first_entry  uuid,
  entries      integer not null,
  times        bigint not null,
  primary key (window_start, kind, subject)
);
