-- Who paused a rollout, by email; null where Lanyard did, because too many installs failed.
alter table releases add column paused_by text;

-- Events of one instant are told apart by the order in which they were written. Older ones have none: a default on the
-- new column would rewrite every partition.
create sequence update_events_order;
alter table update_events add column written_order bigint;
alter table update_events alter column written_order set default nextval('update_events_order');
