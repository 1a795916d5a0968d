-- The last time that a license refused a machine, for each code that staff can do something about. Not a foreign key:
-- refusals are written in batches, when their license may be gone.
create table license_refusals (
  license_id uuid not null,
  code       text not null,
  last_at    timestamptz(3) not null,
  primary key (license_id, code)
);
create index license_refusals_recent on license_refusals (code, last_at);

-- What is counted in five minutes, so that a day can be compared with the day before at the same hour.
create table day_figures (
  at     timestamptz(3) not null,
  figure text not null,
  count  bigint not null,
  primary key (at, figure)
);

create index activations_offline_end on activations (offline_until)
  where status = 'active' and offline_until is not null;

-- The screen that `/` opens for the user; null for the one that opens for everyone.
alter table users add column first_screen text;
