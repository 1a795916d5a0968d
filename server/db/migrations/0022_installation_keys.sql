-- The keys that belong to this database. The keys themselves lie outside of it: in the data directory, or in SIGNING_KEY
-- and SECRETS_KEY (docs/decisions/035-installation-keys.md).
create table installation_keys (
  purpose     text not null check (purpose in ('signing', 'secrets')),
  key_id      text not null,
  -- next: published, signs nothing yet. retired: signed before, still needed to verify. lost: accepted as gone.
  state       text not null check (state in ('next', 'current', 'retired', 'lost')),
  -- of a signing key, as PEM
  public_key  text,
  -- what another key signed of this one, so that who trusts that one can trust this
  endorsed_by text,
  endorsement text,
  signature   text,
  added_at    timestamptz(3) not null,
  ended_at    timestamptz(3),
  primary key (purpose, key_id)
);
create unique index installation_keys_one_current on installation_keys (purpose) where state = 'current';
create unique index installation_keys_one_next on installation_keys (purpose) where state = 'next';
