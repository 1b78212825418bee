#!/bin/sh
# Generates the passwords of the database users for docker-compose.yml. Each is generated once; later runs keep it. Each
# container gets a volume with only the passwords that it needs, readable by its user, so no password is in an environment.
#
# POSTGRES_PASSWORD, if set, is the owner's password: for databases that were created with it. It never replaces a password, which may be
# the only one that opens the database.
set -eu
umask 077

SECRETS=${SECRETS:-/secrets}
# User ids of the Postgres and Node images.
POSTGRES_USER_ID=999
NODE_USER_ID=1000

# make_password NAME VALUE: stores VALUE, or generates a password if VALUE is empty and none is stored
make_password() {
  file=$SECRETS/postgres/$1
  if [ -s "$file" ]; then
    [ -z "$2" ] || [ "$2" = "$(cat "$file")" ] || refuse
  elif [ -n "$2" ]; then
    printf %s "$2" >"$file.new"
    mv "$file.new" "$file"
  else
    head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file.new"
    mv "$file.new" "$file"
  fi
}

refuse() {
  echo 'POSTGRES_PASSWORD is not the password that the volume secrets-postgres has, which was not replaced. Unset' \
    'POSTGRES_PASSWORD in .env, or change the password of the database: see "Passwords in containers" in docs/operations.md.' >&2
  exit 1
}

# let_in FOLDER DATABASE_USER PASSWORD_NAME: writes a libpq password file, which the programs also read. Both take a backslash
# before a colon or a backslash out again.
let_in() {
  printf '*:*:*:%s:%s\n' "$2" "$(sed 's/[\\:]/\\&/g' "$SECRETS/postgres/$3")" >"$SECRETS/$1/pgpass"
}

make_password owner "${POSTGRES_PASSWORD:-}"
make_password indexer ''
make_password api ''
make_password webhooks ''
let_in postgres kasgres owner
let_in migrate kasgres owner
let_in indexer indexer indexer
let_in api api api
let_in webhooks webhooks webhooks

# The API encrypts the secrets of webhooks, and `kasgres webhooks` decrypts them. A copy of the database has no key. The API's is
# the one to back up and to restore.
key=$SECRETS/api/webhook-secret-key
if [ ! -s "$key" ]; then
  head -c 32 /dev/urandom | base64 >"$key.new"
  mv "$key.new" "$key"
fi
cp "$key" "$SECRETS/webhooks/webhook-secret-key"

if [ "$(id -u)" = 0 ]; then
  chown -R "$NODE_USER_ID" "$SECRETS/migrate" "$SECRETS/indexer" "$SECRETS/api" "$SECRETS/webhooks"
  chown -R "$POSTGRES_USER_ID" "$SECRETS/postgres"
fi
