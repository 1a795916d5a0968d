-- A download that counts as complete only because the service sent the whole file; the machine may report otherwise.
alter table downloads add column by_delivery boolean not null default false;
