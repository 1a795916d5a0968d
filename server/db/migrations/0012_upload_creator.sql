-- The audit entry of an upload records who started it.
alter table uploads drop column created_by;
