-- A download that is complete only because the service sent all of the file; the machine may still know better.
alter table downloads add column by_delivery boolean not null default false;
