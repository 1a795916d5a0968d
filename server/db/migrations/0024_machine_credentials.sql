-- How a machine proves itself on a license: docs/decisions/046-machine-credentials.md. The row lives as long as the seat.
create table machine_credentials (
  activation_id    uuid primary key references activations on delete cascade,
  public_key       bytea not null check (length(public_key) = 32),
  token_id         text not null unique,
  secret_hash      bytea not null,
  enrolled_at      timestamptz(3) not null,
  -- The signs of a clone: the latest sequence number, and the latest two different descriptions of the machine.
  sequence         bigint,
  moved_back_at    timestamptz(3),
  facts            text,
  previous_facts   text,
  facts_changed_at timestamptz(3),
  seen_at          timestamptz(3),
  cloned_at        timestamptz(3)
);

-- Nonces that a key signed to enroll on a license. They outlive its seat and enrollment: a captured enrollment must not
-- count again.
create table used_nonces (
  license_id uuid not null references licenses on delete cascade,
  public_key bytea not null check (length(public_key) = 32),
  nonce_hash bytea not null,
  primary key (license_id, public_key, nonce_hash)
);

alter table machines add column proven_at timestamptz(3);

-- Whether what is recorded of a download was proven by the token of the machine.
alter table downloads add column proven boolean not null default false;
create index downloads_proven on downloads (release_id) where proven;

-- Downloads of proven machines, among the unique ones.
alter table release_totals add column proven_downloads bigint not null default 0;
