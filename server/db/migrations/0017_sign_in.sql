-- A password set by an administrator or the first start is not the user's own: they are asked to change it.
alter table users add column password_is_own boolean not null default true;

-- Recovery codes are hashed with argon2id from now on; the server hashes existing ones at its next start.
alter table recovery_codes add column is_argon2 boolean not null default false;
