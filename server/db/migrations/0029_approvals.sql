-- Channels on which a second person approves what reaches machines: docs/decisions/052-approvals.md.
create table channel_approvals (
  channel    text primary key check (channel in ('stable', 'beta', 'alpha')),
  required   boolean not null default false,
  updated_at timestamptz(3) not null default now()
);
insert into channel_approvals (channel) values ('stable'), ('beta'), ('alpha');

-- Calls that wait for the approval of a second person. Without foreign keys: a request outlives its release and the
-- users who made and decided it.
create table change_requests (
  request_id         uuid primary key,
  -- The exact call: method and path of the contract, its parameters and its body.
  call               text not null,
  params             jsonb not null,
  body               jsonb,
  -- The id of the release, or the name of the channel, and its version as the requester saw it.
  subject_id         text not null,
  seen               timestamptz(3) not null,
  subject            text not null,
  what               text not null,
  changes            jsonb not null,
  requested_by       uuid not null,
  requested_by_email text not null,
  requested_at       timestamptz(3) not null,
  expires_at         timestamptz(3) not null,
  state              text not null default 'open' check (state in ('open', 'approved', 'declined', 'withdrawn')),
  decided_by         uuid,
  decided_by_email   text,
  decided_at         timestamptz(3),
  reason             text,
  check ((state = 'open') = (decided_at is null)),
  check (state not in ('approved', 'declined') or decided_by <> requested_by)
);
create index change_requests_recent on change_requests (requested_at);
