-- Machines of which no activation may be left, so that the list of those without a seat does not compare all machines with
-- all seats (docs/decisions/058-machines.md). A machine without an activation is always in it; one that has some may be, as
-- the list looks at each again. Kept by triggers, since the previous version writes these tables as well. That holds
-- whoever runs at the same time: each end of an activation writes the hash without a look at what is left, and only who
-- adds an activation removes it.
create table seatless_machines (machine_hash bytea primary key);

-- In the order in which the writers of machines lock these.
create function seatless_machines_record() returns trigger language plpgsql as $$
begin
  insert into seatless_machines
    select machine_hash from added m
     where not exists (select from activations a left join machine_credentials k using (activation_id)
                        where machine_hash(a.machine_id) = m.machine_hash and k.own_hash is null)
       and not exists (select from machine_credentials k where k.own_hash = m.machine_hash)
     order by machine_hash
    on conflict do nothing;
  return null;
end $$;
create trigger seatless_machines_record after insert on machines referencing new table as added
  for each statement execute function seatless_machines_record();

create function seatless_machines_seat() returns trigger language plpgsql as $$
begin
  delete from seatless_machines where machine_hash = any(array(select machine_hash(machine_id) from added));
  return null;
end $$;
create trigger seatless_machines_seat after insert on activations referencing new table as added
  for each statement execute function seatless_machines_seat();

create function seatless_machines_end() returns trigger language plpgsql as $$
begin
  insert into seatless_machines select distinct machine_hash(machine_id) as hash from gone order by hash
    on conflict do nothing;
  return null;
end $$;
create trigger seatless_machines_end after delete on activations referencing old table as gone
  for each statement execute function seatless_machines_end();

-- A credential moves its activation from the record of the machine id to one of its own.
create function seatless_machines_own() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.own_hash is not null then
    insert into seatless_machines values (old.own_hash) on conflict do nothing;
  end if;
  if tg_op <> 'DELETE' and new.own_hash is not null then
    insert into seatless_machines
      select machine_hash(machine_id) from activations where activation_id = new.activation_id on conflict do nothing;
    delete from seatless_machines where machine_hash = new.own_hash;
  end if;
  return null;
end $$;
create trigger seatless_machines_own_begin after insert on machine_credentials
  for each row when (new.own_hash is not null) execute function seatless_machines_own();
create trigger seatless_machines_own_change after update of own_hash on machine_credentials
  for each row when (old.own_hash is distinct from new.own_hash) execute function seatless_machines_own();
create trigger seatless_machines_own_end after delete on machine_credentials
  for each row when (old.own_hash is not null) execute function seatless_machines_own();
