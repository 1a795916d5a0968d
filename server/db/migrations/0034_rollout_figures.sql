-- All that the page of a release and the rollout guard count, so that they need not read the table.
create index downloads_figures on downloads (release_id, installed_at)
  include (install_failed, ever_failed, rolled_back, proven, offered_at, fetched_at, from_version);
-- unused: downloads_figures begins with the same columns and has the others
drop index downloads_installs;
-- unused: downloads_figures has its columns
drop index downloads_progress;
