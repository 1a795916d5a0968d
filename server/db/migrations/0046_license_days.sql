-- A UTC day on which each license was seen, mostly the last: what was seen later than a filter asks for is left out by an
-- index (docs/decisions/006-counts-and-search.md). Written once a day for each license, behind the validations. The
-- previous version does not write it, which leaves more to compare; so does a day that was never written.
create table license_days (
  license_id uuid primary key,
  seen_day   date not null default '-infinity'
);

-- Most of it before writers of licenses wait for the trigger and the foreign key.
insert into license_days (license_id, seen_day)
  select l.license_id, coalesce(max((a.last_checked_at at time zone 'UTC')::date), '-infinity')
    from licenses l left join activations a using (license_id) group by l.license_id;
create index license_days_seen on license_days (seen_day, license_id);

create function license_days_begin() returns trigger language plpgsql as $$
begin
  insert into license_days (license_id) select license_id from added;
  return null;
end $$;
-- From here on writers of licenses wait: only what they changed meanwhile is left to do.
create trigger license_days_begin after insert on licenses referencing new table as added
  for each statement execute function license_days_begin();
insert into license_days (license_id)
  select license_id from licenses l
   where not exists (select from license_days d where d.license_id = l.license_id);
delete from license_days d where not exists (select from licenses l where l.license_id = d.license_id);
alter table license_days add foreign key (license_id) references licenses on delete cascade;
