/**
 * Nodes elsewhere: on the machine of the engine, and of the profile `kaspad`, whose crate is not
 * built here.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeClient } from '@kasgres/node';
import { afterAll, describe, expect, test } from 'vitest';
import { getTemplate } from '../node/load/miner.ts';
import { findKaspad } from '../support/kaspad.ts';
import { freePort, type Program, startProgram } from '../support/programs.ts';
import { commandsInComments } from './documents.ts';
import {
  compose,
  engine,
  follow,
  inspect,
  readStatus,
  set,
  shell,
  tryShell,
  untilFollowing,
  untilHealthy,
  write,
} from './operator.ts';

const MINED_BLOCKS = 30;
const COMPOSE_FILE = 'docker-compose.yml:docker-compose.override.yml:docker-compose.receiver.yml';
const RUST = 'rust:1.95-bookworm';
/** Installs a program that is there instead of building the crate for half an hour. */
const CARGO = `#!/bin/sh
[ "$1 $2 $3 $5 $6" = 'install kaspad --version --locked --root' ] || { echo "unexpected: cargo $*" >&2; exit 1; }
install -D /opt/program "$7/bin/kaspad"
`;
/** Listens at the port of --rpclisten, as its health check needs. */
const LISTENER = `#!/usr/bin/perl
use IO::Socket::INET;
my ($port) = map { /^--rpclisten=.*:(\\d+)$/ ? $1 : () } @ARGV;
my $server = IO::Socket::INET->new(LocalPort => $port, Listen => 5, ReuseAddr => 1) or die $!;
while (my $client = $server->accept()) { close $client }
`;

describe.skipIf(engine.missing !== undefined)('a node', () => {
  let host: Program | undefined;
  afterAll(async () => {
    await host?.stop();
    if (engine.isOwn) await tryShell(`docker image rm ${RUST}`);
  });

  test.runIf(engine.isOwn)('on the machine of the engine is found as docs/operations.md says', async () => {
    await untilFollowing();
    await compose('stop simulated-node');
    await shell('rm -rf node-data');
    await compose('cp simulated-node:/home/node node-data');
    const [address = ''] = /inet (\S+)\//.exec(await shell('ip -4 address show docker0'))?.slice(1) ?? [];
    const port = await freePort();
    host = startProgram(
      '../../packages/devnet/src/main.ts',
      { nodeUrl: '', databaseUrl: '' },
      { DATA_DIR: join(engine.folder, 'node-data'), DEVNET_LISTEN: `${address}:${port}` },
    );
    set({ NODE_URL: `grpc://host.docker.internal:${port}` });
    await compose('up -d --no-deps indexer api');
    await untilHealthy();
    await untilFollowing();
    await host.stop();
    await expect.poll(async () => (await readStatus()).nodeConnected).toBe(false);
  });

  test('of the profile `kaspad` is built, starts, and is followed where kaspad is there', async () => {
    const kaspad = findKaspad();
    await compose(`--profile '*' down --volumes --remove-orphans`);
    // The default is the node of the profile.
    set({ NODE_URL: undefined, WEBHOOK_ALLOW: undefined });
    await makeCargo(kaspad);
    const start =
      commandsInComments('docker-compose.yml').find((command) => command.includes('--profile kaspad')) ?? '';
    await follow(start);
    await expect.poll(async () => await inspect('kaspad', '.State.Health.Status')).toBe('healthy');
    expect(await compose('exec -T kaspad id -u')).toBe('1000');
    expect(await compose('exec -T kaspad cat /proc/1/status')).toMatch(/^CapEff:\s0+$/m);
    if (kaspad === undefined) {
      console.log('no kaspad is here: it was not followed');
      return;
    }
    await mine();
    await untilHealthy();
    await expect.poll(async () => Number((await readStatus()).sinkBlueScore)).toBeGreaterThanOrEqual(MINED_BLOCKS);
    const { code, output } = await tryShell('docker compose run --rm migrate verify');
    expect(code, output).toBe(0);
  });
});

async function makeCargo(kaspad: string | undefined): Promise<void> {
  mkdirSync(join(engine.folder, 'cargo'), { recursive: true });
  write('cargo/cargo', CARGO);
  if (kaspad === undefined) write('cargo/program', LISTENER);
  else copyFileSync(kaspad, join(engine.folder, 'cargo/program'));
  write(
    'cargo/Dockerfile',
    'FROM debian:bookworm-slim\nCOPY --chmod=755 cargo /usr/local/bin/\nCOPY --chmod=755 program /opt/\n',
  );
  if (engine.isOwn) {
    await shell(`docker build --quiet --tag ${RUST} cargo`);
    return;
  }
  // The image of this name may be in use. BuildKit can replace it since Docker 23.
  await shell('docker build --quiet --tag kasgres-test-cargo cargo');
  write(
    'docker-compose.cargo.yml',
    `services:
  kaspad: { build: { additional_contexts: { "${RUST}": "docker-image://kasgres-test-cargo" } } }
`,
  );
  set({ COMPOSE_FILE: `${COMPOSE_FILE}:docker-compose.cargo.yml` });
}

/** On simnet every block of a template is valid. */
async function mine(): Promise<void> {
  const address = await inspect<Record<string, { IPAddress: string }>>('kaspad', '.NetworkSettings.Networks');
  const node = new NodeClient({ url: `grpc://${Object.values(address)[0]?.IPAddress}:16110` });
  try {
    await node.waitUntilConnected();
    for (let block = 0; block < MINED_BLOCKS; block += 1) {
      const { rejectReason } = await node.call('submitBlock', {
        block: await getTemplate(node),
        allowNonDAABlocks: false,
      });
      expect(rejectReason).toBe(0);
      await sleep(10);
    }
  } finally {
    await node.close();
  }
}
