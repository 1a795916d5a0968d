-- How many machines ever took a seat on the licenses of each customer: at least as many as were in use in any period, so
-- that analytics count those of few customers (docs/decisions/071-the-largest-customers.md). Kept by triggers, since the
-- previous version gives seats as well. No foreign key: who takes a seat has locked the license, after which no customer
-- may be locked.
create table customer_machines (
  customer_id uuid primary key,
  machines    integer not null
);

create function customer_machines_add(customer uuid, more bigint) returns void language sql as $$
  insert into customer_machines as c (customer_id, machines) values (customer, more)
    on conflict (customer_id) do update set machines = c.machines + excluded.machines
$$;

create function customer_machines_seat() returns trigger language plpgsql as $$
begin
  perform customer_machines_add(l.customer_id, count(*))
     from added join licenses l using (license_id) group by l.customer_id order by l.customer_id;
  return null;
end $$;
create trigger customer_machines_seat after insert on activations referencing new table as added
  for each statement execute function customer_machines_seat();

-- The row of a license is locked by whoever gives a seat on it, and so is it here. Both customers are locked in the order
-- of their ids, since two licenses may change places.
create function customer_machines_move() returns trigger language plpgsql as $$
declare
  moved bigint := (select count(*) from activations where license_id = old.license_id);
begin
  perform from customer_machines where customer_id in (old.customer_id, new.customer_id)
    order by customer_id for update;
  update customer_machines set machines = machines - moved where customer_id = old.customer_id;
  if tg_op = 'DELETE' then
    return old;
  end if;
  perform customer_machines_add(new.customer_id, moved);
  return null;
end $$;
create trigger customer_machines_transfer after update of customer_id on licenses
  for each row when (old.customer_id <> new.customer_id) execute function customer_machines_move();
-- before the activations are deleted with it
create trigger customer_machines_delete before delete on licenses
  for each row execute function customer_machines_move();

-- Before the licenses are deleted with it, each of which would write the row. Locked after them, as by a seat.
create function customer_machines_end() returns trigger language plpgsql as $$
begin
  perform from licenses where customer_id = old.customer_id order by license_id for update;
  delete from customer_machines where customer_id = old.customer_id;
  return old;
end $$;
create trigger customer_machines_end before delete on customers
  for each row execute function customer_machines_end();

insert into customer_machines (customer_id, machines)
  select customer_id, count(*) from licenses join activations using (license_id) group by customer_id;
create index customer_machines_most on customer_machines (machines desc, customer_id);
