-- Machines that only validate have a record as well (0038). In the order in which the writer of events inserts machines.
insert into machines (machine_hash, display_id, first_seen, last_seen, validated_at)
  select machine_hash(machine_id), machine_display_id(machine_hash(machine_id)), min(created_at),
         max(coalesce(last_checked_at, created_at)), max(last_checked_at)
    from activations group by 1 order by 1
  on conflict do nothing;
