#!/bin/sh
# Makes the passwords of the database's users for docker-compose.yml, each once: later runs find them. Every container gets a volume with
# what it needs alone, readable by the user that it runs as. So no password stands in the environment of a container.
#
# POSTGRES_PASSWORD, where it is set, is the password of the owner: for databases that were made with one.
set -eu
umask 077

SECRETS=${SECRETS:-/secrets}
# Users of the images of Postgres and of Node.
POSTGRES_USER_ID=999
NODE_USER_ID=1000

# make_password NAME VALUE
make_password() {
  file=$SECRETS/postgres/$1
  if [ -n "$2" ]; then
    printf %s "$2" >"$file"
  elif [ ! -s "$file" ]; then
    head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file.new"
    mv "$file.new" "$file"
  fi
}

# let_in FOLDER DATABASE_USER PASSWORD_NAME: the password file of libpq, which Node's driver reads, too
let_in() {
  printf '*:*:*:%s:%s\n' "$2" "$(cat "$SECRETS/postgres/$3")" >"$SECRETS/$1/pgpass"
}

make_password owner "${POSTGRES_PASSWORD:-}"
make_password indexer ''
make_password api ''
let_in postgres kasgres owner
let_in migrate kasgres owner
let_in indexer indexer indexer
let_in api api api

if [ "$(id -u)" = 0 ]; then
  chown -R "$NODE_USER_ID" "$SECRETS/migrate" "$SECRETS/indexer" "$SECRETS/api"
  chown -R "$POSTGRES_USER_ID" "$SECRETS/postgres"
fi
