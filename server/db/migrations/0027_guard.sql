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
