-- Update policies of customers and of groups of customers (tags): docs/decisions/051-update-policies.md

alter table releases
  add column is_security boolean not null default false,
  add column minimum_supported_version text,
  -- Since when the release is published to all; null below 100 %, and for releases of a version that did not know it
  add column full_at timestamptz(3);

create table customer_tags (
  customer_id uuid not null references customers on delete cascade,
  tag         text not null,
  primary key (customer_id, tag)
);
create index customer_tags_tag on customer_tags (tag);

create table update_policies (
  policy_id   uuid primary key,
  customer_id uuid unique references customers on delete cascade,
  tag         text unique,
  policy      jsonb not null,
  updated_at  timestamptz(3) not null,
  check ((customer_id is null) <> (tag is null))
);
