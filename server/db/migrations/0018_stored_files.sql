-- Who began an upload, for its chunks are taken from nobody else: the user or the API key. Of those that are open now
-- only what the audit log says of staff is known; any other is begun again.
alter table uploads add column begun_by text;
update uploads u set begun_by = (
  select a.user_id from audit_entries a
  where a.event_type = 'upload.begun' and a.resource_id = u.upload_id::text limit 1
) where u.status = 'open';

-- What the storage said of a file (size and time) when its bytes were last compared with the hash, when that was, and
-- since when they are not those of the release.
alter table releases
  add column storage_stamp text,
  add column verified_at timestamptz(3),
  add column damaged_at timestamptz(3);
