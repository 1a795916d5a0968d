-- Search as people type it (docs/decisions/006-counts-and-search.md): without accents, keys in any grouping, dates as shown,
-- machines by host name or a fragment of their id.

-- The text comparison of all searches: lower case, no accents, ß as ss. SQL-standard bodies bind the called functions,
-- since indexes are built without our schema in the search path.
create function search_fold(value text) returns text language sql immutable strict parallel safe
  return replace(replace(replace(sort_key(value), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');

-- The LIKE pattern for a term anywhere in folded text. The term is folded before escaping: a full-width ％ folds to a
-- wildcard.
create function search_pattern(term text) returns text language sql immutable strict parallel safe
  return '%' || regexp_replace(search_fold(term), '([\\%_])', '\\\1', 'g') || '%';

drop index customers_search;
create index customers_search on customers
  using gin (search_fold(name || E'\n' || coalesce(email, '')) gin_trgm_ops);

-- The search text of a license (spec part 1, section 2): key (also without dashes), type, validUntil as a long date and
-- as the console and its CSV write it, customer name, module names raw and with spaces. The status depends on the clock
-- and is matched by the query instead.
create or replace function license_search_text(l licenses, customer_name text) returns text
language sql immutable as $$
  select search_fold(concat_ws(E'\n',
    l.license_key,
    replace(l.license_key, '-', ''),
    l.type,
    month || ' ' || day || ', ' || year,
    day || ' ' || left(month, 3) || ' ' || year,
    day || ' ' || month || ' ' || year,
    to_char(valid_until, 'YYYY-MM-DD'),
    customer_name,
    array_to_string(l.module_ids, ' '),
    replace(array_to_string(l.module_ids, E'\n'), '_', ' ')))
  from (select l.valid_until at time zone 'UTC' as valid_until) utc,
    lateral (select extract(day from valid_until)::int as day, extract(year from valid_until)::int as year,
      -- FMMonth follows the language of the connection, so the names stand here
      (array['January','February','March','April','May','June','July','August','September','October','November',
        'December'])[extract(month from valid_until)::int] as month) parts
$$;

drop index licenses_search;
update licenses l set search_text = license_search_text(l, coalesce(c.name, ''))
  from customers c where c.customer_id = l.customer_id;
create index licenses_search on licenses using gin (search_text gin_trgm_ops);

-- The search text of a machine: its id and host name.
create function machine_search_text(machine_id text, hostname text) returns text
language sql immutable parallel safe
  return search_fold(machine_id || E'\n' || coalesce(hostname, ''));
create index activations_search on activations
  using gin (machine_search_text(machine_id, hostname) gin_trgm_ops);
-- Machines are inserted singly: every search would read a long pending list.
alter index activations_search set (gin_pending_list_limit = 256);
