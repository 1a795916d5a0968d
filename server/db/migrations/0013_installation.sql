-- Which installation this database is: the storage that it sweeps bears the same id. Made when it is first asked for, so
-- that a copy of the database becomes an installation of its own when the row is deleted.
create table installation (
  only_row        boolean primary key default true check (only_row),
  installation_id uuid not null
);
