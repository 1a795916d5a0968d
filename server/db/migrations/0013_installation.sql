-- The installation of this database: the storage that it sweeps has the same id. Created on first use, so that a copy
-- of the database becomes a separate installation when the row is deleted.
create table installation (
  only_row        boolean primary key default true check (only_row),
  installation_id uuid not null
);
