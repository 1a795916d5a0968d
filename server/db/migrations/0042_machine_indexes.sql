-- Indexes of the list of machines (0038). The largest is built first: writers of a table wait from
-- the build of its index until the end of the migration.

-- The validations of one machine, and those of a license by their results.
create index validations_of_machine on validations (license_id, machine_id, occurred_at) include (code);
create index machine_credentials_cloned on machine_credentials (activation_id) where cloned_at is not null;
create index machines_heard_of on machines (greatest(last_seen, validated_at), machine_hash);
