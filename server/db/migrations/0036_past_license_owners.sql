-- Customers that held a license until it was transferred or deleted, so that the timeline of a customer holds only what
-- was done while the license was theirs (docs/decisions/056-customer-page.md). Without foreign keys: the time of a later
-- owner begins here, also when the earlier one is gone.
create table past_license_owners (
  license_id  uuid not null,
  customer_id uuid not null,
  until       timestamptz(3) not null,
  primary key (license_id, until)
);
create index past_license_owners_customer on past_license_owners (customer_id);

insert into past_license_owners (license_id, customer_id, until)
  select resource_id::uuid, (before->>'customerId')::uuid, max(timestamp)
    from audit_entries
   where event_type in ('license.updated', 'license.deleted') and success and before->>'customerId' is not null
     and before->>'customerId' is distinct from after->>'customerId'
   group by 1, 2, timestamp
on conflict do nothing;

-- The refused validations of a customer in the last days; those without a customer have an unknown key.
create index validations_refused on validations (customer_id, occurred_at)
  where code <> 'VALID' and customer_id is not null;
