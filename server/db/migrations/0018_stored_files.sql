-- The user or API key that started an upload, the only one that may send its chunks. For open uploads, the audit log
-- identifies staff only; all others must be restarted.
alter table uploads add column begun_by text;
update uploads u set begun_by = (
  select a.user_id from audit_entries a
  where a.event_type = 'upload.begun' and a.resource_id = u.upload_id::text limit 1
) where u.status = 'open';

-- The size and time of a file when its bytes were last verified against the hash, when that was, and since when they
-- are wrong.
alter table releases
  add column storage_stamp text,
  add column verified_at timestamptz(3),
  add column damaged_at timestamptz(3);
