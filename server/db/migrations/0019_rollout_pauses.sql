-- The email of the user who paused a rollout; null if Lanyard did, because too many installs failed.
alter table releases add column paused_by text;

-- Orders events with the same time by insertion. Existing events have no value: a default on the new column would
-- rewrite every partition.
create sequence update_events_order;
alter table update_events add column written_order bigint;
alter table update_events alter column written_order set default nextval('update_events_order');
