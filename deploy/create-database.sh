#!/bin/sh
# Run once by the image of PostgreSQL: creates the role of the service, which is not a superuser, and its database.
psql -v ON_ERROR_STOP=1 -v password="$DATABASE_PASSWORD" -U "${POSTGRES_USER:-postgres}" -d postgres <<'SQL'
create role lanyard_app login password :'password' nosuperuser nocreatedb nocreaterole;
create database lanyard owner lanyard_app encoding 'UTF8' template template0;
SQL
