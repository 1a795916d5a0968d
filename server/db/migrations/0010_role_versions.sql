-- The version of a role, by which a lost update is seen.
alter table roles add column updated_at timestamptz(3) not null default now();
