-- Validations by month, like update events: those older than VALIDATIONS_KEEP are dropped with their partition.
-- Existing ones stay together, in the partition of the latest month.
alter table validations rename to validations_before;
alter table validations_before drop constraint validations_pkey;
alter table validations_before alter column validation_id drop identity;
alter index validations_by_time rename to validations_before_by_time;

create table validations (like validations_before including defaults) partition by range (occurred_at);
alter table validations alter column validation_id add generated always as identity;
create table validations_other partition of validations default;

do $$
declare
  latest timestamptz := (select max(occurred_at) from validations_before);
  month  timestamp := date_trunc('month', latest at time zone 'UTC');
  place  text := 'validations_' || to_char(month, 'YYYY_MM');
begin
  if latest is null then
    drop table validations_before;
  else
    perform setval(pg_get_serial_sequence('validations', 'validation_id'),
                   (select max(validation_id) from validations_before));
    execute format('alter table validations_before rename to %I', place);
    execute format('alter table validations attach partition %I for values from (minvalue) to (%L)',
                   place, (month + interval '1 month') at time zone 'UTC');
  end if;
end $$;

create index validations_by_time on validations using brin (occurred_at);
