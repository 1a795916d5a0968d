-- The list of all machines, and what became of each: docs/decisions/058-machines.md.

-- The display id of a machine, from its hash: as displayIdOf of the update events.
create function machine_display_id(hash bytea) returns text language sql immutable strict parallel safe as $$
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + substring(bits from 1 + 5 * n for 5)::bit(5)::int, 1), ''
                    order by n)
    from (select ('x' || left(encode(hash, 'hex'), 15))::bit(60) as bits) b, generate_series(0, 11) as n
$$;

-- When it last validated, to some minutes. The records and indexes that take long follow in 0041 and 0042: update checks
-- wait for this lock.
alter table machines add column validated_at timestamptz(3);

-- The latest refusals of a machine on a license, also of one that never had a seat. No foreign key, which would let a
-- license that is being deleted stop the recording of others.
create table refusals (
  license_id   uuid not null,
  machine_id   text not null,
  code         text not null,
  -- of the first of them with this code, and of the last
  since        timestamptz(3) not null,
  refused_at   timestamptz(3) not null,
  hostname     text,
  platform     text,
  architecture text,
  app_version  text,
  primary key (license_id, machine_id)
);
create index refusals_machine_hash on refusals (machine_hash(machine_id));
create index refusals_by_time on refusals (refused_at);
create index refusals_search on refusals using gin (machine_search_text(machine_id, hostname) gin_trgm_ops);
