-- The newest moment that this database has seen, by the clock of a process that was right then: what deletes by age
-- compares its clock with it first (docs/decisions/036-checked-time.md).
create table newest_moment (
  only_row boolean primary key default true check (only_row),
  at       timestamptz(3) not null
);
-- A database that was in use has seen what stands in it; a new one begins with the first clock that asks.
insert into newest_moment (at)
select seen.at from (
  select greatest(
    (select max(timestamp) from audit_entries),
    (select max(last_seen_at) from sessions),
    (select max(day) from validation_days)
  ) as at
) seen where seen.at is not null;
