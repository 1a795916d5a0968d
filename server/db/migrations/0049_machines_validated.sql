-- When machines last validated that had a record before 0038, which 0041 left as it was. Only of those that have been quiet
-- otherwise: the others are heard of again, and few rows may be kept from writers of machines, who lock in this order.
with quiet as materialized (
  select m.machine_hash, v.at
    from machines m
    join (select coalesce(k.own_hash, machine_hash(a.machine_id)) as machine_hash, max(a.last_checked_at) as at
            from activations a left join machine_credentials k using (activation_id) group by 1) v using (machine_hash)
   where m.validated_at is null and v.at > m.last_seen + interval '1 day'
   order by m.machine_hash for update of m)
update machines m set validated_at = q.at from quiet q where m.machine_hash = q.machine_hash;
