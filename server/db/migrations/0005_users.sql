-- Second factor (TOTP), the role editor, and what the user list shows (spec part 2, section 2.8).
alter table users
  add column last_sign_in_at   timestamptz(3),
  add column totp_secret       text,
  add column totp_confirmed_at timestamptz(3),
  -- the time step of the last sign-in: a code works once
  add column totp_last_step    bigint;

create table recovery_codes (
  user_id   uuid not null references users on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

alter table roles
  add column built_in               boolean not null default false,
  add column requires_second_factor boolean not null default false;
update roles set built_in = true;
