-- Machines without a network run by a license file, and hold their seat until it ends.
alter table activations
  add column offline_until timestamptz(3),
  drop constraint activations_activation_type_check,
  -- existing rows hold fewer types, so they need not be read under this lock
  add constraint activations_activation_type_check
    check (activation_type in ('automatic', 'manual', 'offline')) not valid;
create index activations_offline on activations (license_id, offline_until)
  where status = 'active' and offline_until is not null;

create table license_files (
  -- jti of the file
  file_id       uuid primary key,
  activation_id uuid not null references activations on delete cascade,
  -- of the machine, Ed25519: its receipt is signed with the private half
  public_key    bytea not null check (length(public_key) = 32),
  -- increases from file to file of a machine: only the newest can be given back
  issued_at     timestamptz(3) not null,
  -- the last moment at which the file lets the machine run, grace included
  ends_at       timestamptz(3) not null,
  returned_at   timestamptz(3)
);
create index license_files_activation on license_files (activation_id, issued_at);
