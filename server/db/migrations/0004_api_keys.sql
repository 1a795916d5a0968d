-- A revocation is permanent; an inactive key can be activated again (spec part 2, section 4).
alter table api_keys add column revoked_at timestamptz(3);
update api_keys set revoked_at = updated_at where not is_active;
