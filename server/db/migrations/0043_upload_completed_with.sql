-- The digest of the request that an upload became a release with: a repeat with other values is
-- refused, and not answered with what was published.
alter table uploads add column completed_with text;
