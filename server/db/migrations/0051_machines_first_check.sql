-- When a machine first asked for updates; its record may be older, since machines validate. Null in records of before, which
-- began with it.
alter table machines add column first_check timestamptz;
