-- Who began an upload stands in its audit entry.
alter table uploads drop column created_by;
