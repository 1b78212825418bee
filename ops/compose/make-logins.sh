#!/bin/sh
# Creates the roles of ops/roles.sql and the logins of the indexer, the API and webhooks. Runs after each `kasgres migrate`; idempotent.
# PGHOST, PGUSER, PGDATABASE and PGPASSFILE name the database.
set -eu

SECRETS=${SECRETS:-/secrets}
OPS=${OPS:-/ops}

psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 -f "$OPS/roles.sql"
for login in indexer api webhooks; do
  PASSWORD=$(cat "$SECRETS/postgres/$login")
  export PASSWORD
  psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 -v login="$login" -v role="kasgres_$login" <<'SQL'
\getenv password PASSWORD
select format('create role %I login', :'login') where not exists (select from pg_roles where rolname = :'login') \gexec
grant :"role" to :"login";
alter role :"login" nosuperuser nocreatedb nocreaterole noreplication password :'password';
SQL
done
