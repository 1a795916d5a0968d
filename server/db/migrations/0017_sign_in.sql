-- A password that an administrator or the first start set is not the person's own: they are asked to change it.
alter table users add column password_is_own boolean not null default true;

-- Recovery codes are hashed by argon2id from now on; the server hashes those of before at its next start.
alter table recovery_codes add column is_argon2 boolean not null default false;
