-- After the triggers of 0047, which see what ends from then on.
insert into seatless_machines
  select machine_hash from machines m
   where not exists (select from activations a left join machine_credentials k using (activation_id)
                      where coalesce(k.own_hash, machine_hash(a.machine_id)) = m.machine_hash)
  on conflict do nothing;
-- Last, as writers of seats wait from here on.
create index activations_released on activations (activation_id) where status = 'released';
