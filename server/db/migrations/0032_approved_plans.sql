-- Whether two people agreed to the rollout plan: only then does the clock take a step that needs their approval.
alter table releases add column plan_approved boolean not null default false;
