-- The share of failing installs that staff accept, in percent; null: as of the previous full release. Replaces the
-- threshold of failure_percent and failure_min_installs.
alter table releases add column acceptable_failures double precision
  check (acceptable_failures between 0.1 and 50);
update releases set acceptable_failures = least(greatest(failure_percent, 0.1), 50) where failure_percent is not null;
-- The guard now watches every release: installs of before the upgrade do not pause one that it did not watch.
update releases set failures_from = greatest(failures_from, now())
 where failure_percent is null and not is_draft and deleted_at is null;

-- An install that failed and succeeded later. The failures of a rollout are compared with how many machines of the
-- previous release failed at least once, since some of them have not tried again yet.
alter table downloads add column ever_failed boolean not null default false;

-- When the percentage of a release changed: a machine could first take it when its percentage was reached.
create table rollout_steps (
  release_id uuid not null references releases on delete cascade,
  at         timestamptz(3) not null,
  percentage integer not null,
  primary key (release_id, at)
);
insert into rollout_steps (release_id, at, percentage)
select release_id, created_at, rollout_percentage from releases where deleted_at is null;
-- A trigger, since processes of the previous version change percentages too.
create function note_rollout_step() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or new.rollout_percentage <> old.rollout_percentage then
    insert into rollout_steps (release_id, at, percentage)
    values (new.release_id, new.updated_at, new.rollout_percentage)
    on conflict (release_id, at) do update set percentage = excluded.percentage;
  end if;
  return null;
end $$;
create trigger releases_rollout_step after insert or update of rollout_percentage on releases
  for each row execute function note_rollout_step();
