-- License analytics (spec part 2, section 2.7) read these tables, never the validations themselves. Days are UTC. The
-- recorder updates them in the transaction of each batch.

create table validation_days (
  day         date not null,
  code        text not null,
  validations bigint not null,
  duration_us bigint not null,
  primary key (day, code)
);

-- Distinct machines, licenses and customers that were VALID on a day.
create table active_days (
  day       date primary key,
  machines  bigint not null default 0,
  licenses  bigint not null default 0,
  customers bigint not null default 0
);

-- The last UTC day on which a machine was counted as active.
alter table activations add column counted_day date;
update activations set counted_day = (last_checked_at at time zone 'UTC')::date where last_checked_at is not null;

-- Licenses and customers already counted on a day; kept for a few days, until no batch can belong to it.
create table counted_today (
  day  date not null,
  kind text not null check (kind in ('license', 'customer')),
  id   uuid not null,
  primary key (day, kind, id)
);

insert into validation_days (day, code, validations, duration_us)
  select (occurred_at at time zone 'UTC')::date, code, count(*), sum(duration_us) from validations group by 1, 2;
insert into active_days (day, machines, licenses, customers)
  select (occurred_at at time zone 'UTC')::date,
         count(distinct (license_id, machine_id)), count(distinct license_id), count(distinct customer_id)
    from validations where code = 'VALID' group by 1;
insert into counted_today (day, kind, id)
  select distinct (occurred_at at time zone 'UTC')::date, 'license', license_id
    from validations where code = 'VALID' and occurred_at > now() - interval '3 days'
  union
  select distinct (occurred_at at time zone 'UTC')::date, 'customer', customer_id
    from validations where code = 'VALID' and occurred_at > now() - interval '3 days';
