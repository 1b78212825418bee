# Builds two images. `kasgres`, the last stage and so the default, has the command with all its programs. `kaspad` is the node,
# built from its crate (half an hour on two cores) for the profile `kaspad` of docker-compose.yml.

FROM rust:1.95-bookworm AS kaspad-build
RUN apt-get update \
  && apt-get install -y --no-install-recommends protobuf-compiler clang libclang-dev pkg-config libssl-dev \
  && rm -rf /var/lib/apt/lists/*
RUN cargo install kaspad --version 2.1.0 --locked --root /opt/kaspad

FROM debian:bookworm-slim AS kaspad
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 1000 kaspad \
  && install -d -o kaspad -g kaspad /data
COPY --from=kaspad-build /opt/kaspad/bin/kaspad /usr/local/bin/kaspad
USER kaspad
VOLUME /data
ENTRYPOINT ["kaspad", "--appdir=/data", "--yes", "--nologfiles", "--disable-upnp"]

# Installs production packages only. Install scripts are skipped: the image has the right Node and needs no embedded Postgres,
# which is an optional package.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/kaspa/package.json packages/kaspa/
COPY packages/runtime/package.json packages/runtime/
COPY packages/programs/package.json packages/programs/
COPY packages/node/package.json packages/node/
COPY packages/database/package.json packages/database/
COPY packages/state/package.json packages/state/
COPY packages/reads/package.json packages/reads/
COPY packages/chain-steps/package.json packages/chain-steps/
COPY packages/webhooks/package.json packages/webhooks/
COPY packages/indexer/package.json packages/indexer/
COPY packages/api/package.json packages/api/
COPY packages/client/package.json packages/client/
COPY packages/explorer/package.json packages/explorer/
COPY packages/verification/package.json packages/verification/
COPY packages/export/package.json packages/export/
COPY packages/cli/package.json packages/cli/
COPY packages/devnet/package.json packages/devnet/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# Bundles the web explorer. Its packages are not needed afterwards, and no types: those of packages/client are not generated here.
FROM node:24-bookworm-slim AS explorer
WORKDIR /app
COPY --from=dependencies /app ./
RUN npm ci --workspace=@kasgres/explorer --workspace=@kasgres/client --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY packages/client packages/client
COPY packages/programs packages/programs
COPY packages/explorer packages/explorer
RUN node packages/explorer/prepare.js

FROM node:24-bookworm-slim AS kasgres
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY LICENSE ./
COPY migrations migrations
COPY packages packages
COPY --from=explorer /app/packages/explorer/dist packages/explorer/dist
USER node
ENTRYPOINT ["node", "/app/packages/cli/bin/kasgres.js"]
CMD ["--help"]
