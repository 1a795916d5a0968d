-- Releases, uploads, machines and their update events (spec part 2, sections 2.1-2.6).

create table releases (
  release_id           uuid primary key,
  version              text not null,
  channel              text not null check (channel in ('stable', 'beta', 'alpha')),
  platform             text not null check (platform in ('win32', 'darwin', 'linux')),
  architecture         text not null check (architecture in ('x64', 'arm64', 'ia32')),
  is_active            boolean not null default true,
  is_draft             boolean not null,
  is_mandatory         boolean not null,
  rollout_percentage   integer not null check (rollout_percentage between 0 and 100),
  rollout_salt         text not null,
  minimum_app_version  text,
  release_notes        text,
  release_date         timestamptz(3) not null,
  file_name            text not null,
  file_kind            text not null,
  file_size            bigint not null,
  external_url         text,
  storage_key          text,
  sha512               text not null,
  sha1                 text,
  blockmap_key         text,
  failure_percent      double precision,
  failure_min_installs integer,
  failures_from        timestamptz(3) not null,
  paused_at            timestamptz(3),
  pause_reason         text,
  deleted_at           timestamptz(3),
  deleted_by           uuid,
  deleted_by_email     text,
  deletion_reason      text,
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null,
  -- the bytes are stored either by us or elsewhere
  check ((external_url is null) <> (storage_key is null)),
  check (not (is_draft and is_mandatory)),
  check ((failure_percent is null) = (failure_min_installs is null))
);
-- One build of each kind: a version can have one .exe and one .nupkg, but not two .exe.
create unique index releases_identity on releases (version, channel, platform, architecture, file_kind)
  where deleted_at is null;
create index releases_bin on releases (deleted_at) where deleted_at is not null;

-- Maintained by the writer of events, so that lists need not count events.
create table release_totals (
  release_id          uuid primary key references releases on delete cascade,
  downloads           bigint not null default 0,
  completed_downloads bigint not null default 0,
  failed_downloads    bigint not null default 0,
  -- machines that started the download
  unique_downloads    bigint not null default 0
);

-- A chunked upload. The release id is chosen at the start, so that completion can be repeated after a crash.
create table uploads (
  upload_id    uuid primary key,
  file_key     text not null,
  file_name    text not null,
  file_size    bigint not null,
  chunk_size   integer not null,
  total_chunks integer not null,
  version      text not null,
  channel      text not null,
  platform     text not null,
  architecture text not null,
  status       text not null default 'open' check (status in ('open', 'completed', 'cancelled')),
  release_id   uuid not null,
  multipart_id text,
  claim        uuid,
  claimed_at   timestamptz(3),
  created_by   text not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null
);
create index uploads_open on uploads (updated_at) where status = 'open';

-- A claim belongs to the connection that is sending; done_at means that the bytes are on stable storage.
create table upload_chunks (
  upload_id  uuid not null references uploads on delete cascade,
  index      integer not null,
  claim      uuid,
  claimed_at timestamptz(3),
  done_at    timestamptz(3),
  etag       text,
  primary key (upload_id, index)
);

-- Machines are identified by the SHA-256 of their id.
create table machines (
  machine_hash    bytea primary key,
  -- bytewise order, so that a prefix is a range of the index
  display_id      text collate "C" not null,
  platform        text,
  architecture    text,
  channel         text,
  last_version    text,
  os_version      text,
  app_version     text,
  first_seen      timestamptz(3) not null,
  last_seen       timestamptz(3) not null,
  -- the last UTC day with a check: detects the first check of a day, to count the unique machines of that day
  last_check_day  date,
  total_checks    bigint not null default 0,
  total_downloads bigint not null default 0,
  total_events    bigint not null default 0,
  notes           text
);
create unique index machines_display on machines (display_id);
create index machines_last_seen on machines (last_seen, machine_hash);
create index machines_version on machines (last_version, platform, architecture);

-- Raw events by month; partitions are created in advance and dropped after the retention.
create table update_events (
  event_id      uuid not null,
  occurred_at   timestamptz(3) not null,
  machine_hash  bytea not null,
  event_type    text not null,
  success       boolean not null,
  from_version  text,
  to_version    text,
  release_id    uuid,
  error_code    text,
  error_message text
) partition by range (occurred_at);
create index update_events_machine on update_events (machine_hash, occurred_at desc);
create table update_events_other partition of update_events default;

-- Ids of reported events, kept for some days: a retried batch counts once.
create table update_event_ids (
  event_id uuid primary key,
  seen_at  timestamptz(3) not null
);
create index update_event_ids_age on update_event_ids (seen_at);

-- One row per machine and release: downloads count per machine and version, not per request.
create table downloads (
  download_id      uuid not null,
  machine_hash     bytea not null,
  release_id       uuid not null references releases on delete cascade,
  version          text not null,
  started_at       timestamptz(3) not null,
  completed_at     timestamptz(3),
  bytes_downloaded bigint,
  error_code       text,
  installed_at     timestamptz(3),
  install_failed   boolean,
  primary key (machine_hash, release_id)
);
-- also for the cascade when a release is deleted
create index downloads_installs on downloads (release_id, installed_at) include (install_failed);

-- Update checks per UTC day.
create table update_days (
  day             date primary key,
  total_checks    bigint not null default 0,
  unique_machines bigint not null default 0
);

-- Activations of a machine are found by the hash of its id (spec part 2, section 2.6). convert_to is declared stable
-- because encodings could be redefined; for UTF-8 it is immutable, so an index can use it.
create function machine_hash(machine_id text) returns bytea language sql immutable strict parallel safe as $$
  select sha256(convert_to(machine_id, 'UTF8'))
$$;
create index activations_machine_hash on activations (machine_hash(machine_id));
