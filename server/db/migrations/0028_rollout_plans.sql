-- The steps of a rollout, and where it stands; null when the percentage is the only step.
alter table releases
  add column rollout_plan    jsonb,
  add column plan_starts_at  timestamptz(3),
  -- index of the step that the rollout is at; null before the plan has started
  add column plan_step       integer,
  add column step_started_at timestamptz(3);
create index releases_stepping on releases (release_id) where rollout_plan is not null and deleted_at is null;

-- The plan that the release form suggests on a channel.
create table rollout_defaults (
  channel    text primary key check (channel in ('stable', 'beta', 'alpha')),
  plan       jsonb,
  updated_at timestamptz(3) not null
);

-- What became of a release on each machine, for its page.
alter table downloads
  -- the version that the machine came from
  add column from_version text,
  -- why its last install failed
  add column failure_code text,
  add column rolled_back  boolean;
create index downloads_failed on downloads (release_id, failure_code) where install_failed;
create index downloads_progress on downloads (release_id)
  include (fetched_at, completed_at, installed_at, install_failed, rolled_back, from_version);

-- Machines that a feed offered the release.
create table release_offers (
  release_id   uuid not null references releases on delete cascade,
  machine_hash bytea not null,
  offered_at   timestamptz(3) not null,
  primary key (release_id, machine_hash)
);

-- Machines that had the release when it was withdrawn.
create table withdrawn_machines (
  release_id   uuid not null references releases on delete cascade,
  machine_hash bytea not null,
  withdrawn_at timestamptz(3) not null,
  primary key (release_id, machine_hash)
);
