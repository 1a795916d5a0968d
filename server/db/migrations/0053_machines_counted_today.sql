-- A machine with seats on several licenses is counted once a day.
alter table counted_today
  drop constraint counted_today_kind_check,
  -- existing rows are of fewer kinds, so they need not be read under this lock
  add constraint counted_today_kind_check check (kind in ('machine', 'license', 'customer')) not valid;
