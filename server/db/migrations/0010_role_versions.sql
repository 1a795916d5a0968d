-- The version of a role, used to detect lost updates.
alter table roles add column updated_at timestamptz(3) not null default now();
