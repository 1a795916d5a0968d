-- Nothing was ever decided by it: a claim and its answer commit together.
alter table idempotency_keys drop column status;
