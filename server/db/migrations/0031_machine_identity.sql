-- The record of a machine that its token writes into, if its machine id already belongs to a proven machine of another
-- customer: docs/decisions/046-machine-credentials.md. Null: the SHA-256 of the machine id.
alter table machine_credentials add column own_hash bytea;
create index machine_credentials_own_hash on machine_credentials (own_hash) where own_hash is not null;

-- When a machine that holds a license file last got a VALID answer: a receipt made before that does not free its seat.
alter table activations add column answered_at timestamptz(3);

-- Whether the machine id is still bound to the key of the file: as long as the seat that it was issued for.
alter table license_files add column binds_key boolean not null default true;
