-- Set while machines without a token report more failed installs than are acceptable. They may be forged
-- and so pause nothing, but somebody must look.
alter table releases add column failures_claimed_at timestamptz;
