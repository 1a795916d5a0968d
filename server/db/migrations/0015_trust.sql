-- The creator of a key stays readable when the user is deleted; also where the key was last used.
alter table api_keys add column maker_email text, add column last_used_ip text;
update api_keys k set maker_email = u.email from users u where u.user_id = k.created_by;

-- Hourly budgets (of requests, events, new machines) for all processes, replacing the one for requests.
create table budget_hours (
  budget  text not null,
  subject text not null,
  hour    timestamptz(3) not null,
  granted integer not null,
  -- staff were notified that it is used up
  told_at timestamptz(3),
  primary key (budget, subject, hour)
);
insert into budget_hours (budget, subject, hour, granted)
select 'requests', api_key_id::text, hour, granted from api_key_hours;
drop table api_key_hours;

-- What the service itself observed: a feed offered the release to the machine, and the machine downloaded it.
alter table downloads add column offered_at timestamptz(3), add column fetched_at timestamptz(3);

-- Seats that machines released themselves, by UTC day.
alter table licenses
  add column self_release_day date,
  add column self_releases integer not null default 0;
