-- When a release was withdrawn, until the machines that had it are kept: that is not in the same transaction.
alter table releases add column affected_due timestamptz(3);
