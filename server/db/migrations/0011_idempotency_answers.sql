-- The column was unused: a claim and its response commit together.
alter table idempotency_keys drop column status;
