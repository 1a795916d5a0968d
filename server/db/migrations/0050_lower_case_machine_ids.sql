-- Squirrel.Windows repeats a failed request in lower case, and a whole fleet does when the feeds fail. No index of the
-- search helps with a text that most machine ids contain.
create index activations_lower_id on activations (lower(machine_id));
