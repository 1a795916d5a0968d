-- The keys of this database. The keys themselves are stored outside of it: in the data directory, or in SIGNING_KEY and
-- SECRETS_KEY (docs/decisions/035-installation-keys.md).
create table installation_keys (
  purpose     text not null check (purpose in ('signing', 'secrets')),
  key_id      text not null,
  -- next: published, but signs nothing yet. retired: still needed to verify signatures. lost: accepted as lost.
  state       text not null check (state in ('next', 'current', 'retired', 'lost')),
  -- of a signing key, as PEM
  public_key  text,
  -- the signature of another key over this one, which extends trust in that key to this one
  endorsed_by text,
  endorsement text,
  signature   text,
  added_at    timestamptz(3) not null,
  ended_at    timestamptz(3),
  primary key (purpose, key_id)
);
create unique index installation_keys_one_current on installation_keys (purpose) where state = 'current';
create unique index installation_keys_one_next on installation_keys (purpose) where state = 'next';
