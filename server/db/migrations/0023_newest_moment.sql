-- The latest time seen by this database, from a process whose clock was right: deletions by age compare their clock
-- with it first (docs/decisions/036-checked-time.md).
create table newest_moment (
  only_row boolean primary key default true check (only_row),
  at       timestamptz(3) not null
);
-- Initialized from existing data; a new database starts with the first clock that is compared.
insert into newest_moment (at)
select seen.at from (
  select greatest(
    (select max(timestamp) from audit_entries),
    (select max(last_seen_at) from sessions),
    (select max(day) from validation_days)
  ) as at
) seen where seen.at is not null;
