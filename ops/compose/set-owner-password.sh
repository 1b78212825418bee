#!/bin/sh
# Gives the owner of the database the password that the volume secrets-postgres has. Runs in the container of Postgres, whose socket
# needs no password.
set -eu

psql --no-psqlrc --quiet --username=kasgres --dbname=kasgres -v ON_ERROR_STOP=1 -v password="$(cat /secrets/postgres/owner)" <<'SQL'
alter role kasgres password :'password';
SQL
