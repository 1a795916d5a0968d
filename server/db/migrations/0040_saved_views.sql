-- Named filters of a list, own or shared: docs/decisions/060-saved-views.md.
create table saved_views (
  view_id    uuid primary key,
  list       text not null,
  name       text not null,
  -- As in the URL of the list, without the question mark.
  query      text not null,
  shared     boolean not null,
  -- Null when the owner of a shared view was deleted.
  owner_id   uuid references users on delete set null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The view deleted last by its owner is kept for Undo.
  deleted_at timestamptz(3)
);
create unique index saved_views_name on saved_views (owner_id, list, lower(name)) where deleted_at is null;
create index saved_views_shared on saved_views (list) where shared and deleted_at is null;

-- Nobody else can see them.
create function delete_own_views() returns trigger language plpgsql as $$
begin
  delete from saved_views where owner_id = old.user_id and not shared;
  return old;
end $$;
create trigger users_delete_own_views before delete on users
  for each row execute function delete_own_views();

