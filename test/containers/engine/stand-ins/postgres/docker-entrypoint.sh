#!/bin/bash
# Has the interface of the entry point of the official image: POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB or files of them, scripts of
# /docker-entrypoint-initdb.d, and a temporary server at the socket during the initialisation.
set -Eeo pipefail

[ "${1#-}" = "$1" ] || set -- postgres "$@"
[ "$1" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$BASH_SOURCE" "$@"
fi

# value_of NAME DEFAULT
value_of() {
  local file=$1_FILE
  if [ -n "${!file:-}" ]; then cat "${!file}"; else printf %s "${!1:-$2}"; fi
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=$(value_of POSTGRES_USER postgres)
  password=$(value_of POSTGRES_PASSWORD '')
  database=$(value_of POSTGRES_DB "$user")
  if [ -z "$password" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified.' >&2
    exit 1
  fi
  initdb --username="$user" --pwfile=<(printf '%s\n' "$password") ${POSTGRES_INITDB_ARGS:-} -D "$PGDATA"
  printf '\nhost all all all %s\n' "${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -w start -o "-c listen_addresses='' -p 5432"
  export PGUSER=$user PGHOST=
  [ "$database" = postgres ] || psql -v ON_ERROR_STOP=1 --no-psqlrc --dbname=postgres -v db="$database" <<<'create database :"db";'
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh) if [ -x "$file" ]; then "$file"; else . "$file"; fi ;;
      *.sql) psql -v ON_ERROR_STOP=1 --no-psqlrc --dbname="$database" -f "$file" ;;
    esac
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
  unset PGUSER PGHOST
  echo 'PostgreSQL init process complete; ready for start up.'
fi

exec "$@"
