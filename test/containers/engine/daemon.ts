/**
 * A Docker engine of this test: `dockerd` with directories, a socket and a process id for itself
 * only. Its bridges and rules of iptables are removed when it stops, and forwarding is as before.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, succeeds } from '../run.ts';

/** Has images, packages and plugins, which are made once. */
export const CACHE = process.env['CONTAINERS_CACHE'] ?? join(homedir(), '.cache', 'kasgres-containers');
const STATE = join(CACHE, 'state');
const PID_FILE = join(STATE, 'dockerd.pid');
const SOCKET = join(STATE, 'docker.sock');
const NETWORK_BEFORE = join(STATE, 'network-before.json');
const IP_FORWARD = '/proc/sys/net/ipv4/ip_forward';
const START_SECONDS = 60;

export const DOCKER_HOST = `unix://${SOCKET}`;

/** Tables that the kernel does not list before they are used. */
const EMPTY_TABLES = [
  '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n',
  '*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n',
];

interface NetworkState {
  ipForward: string;
  rules: string;
  bridges: string;
}

/** Starts the engine, or leaves it as it is if it runs. */
export async function startDaemon(): Promise<void> {
  mkdirSync(STATE, { recursive: true });
  if (isRunning() && (await responds())) return;
  await stopDaemon();
  // A run that was killed has left the state before it.
  if (!existsSync(NETWORK_BEFORE)) writeFileSync(NETWORK_BEFORE, JSON.stringify(await readNetwork()));
  // The machine's configuration does not count.
  writeFileSync(join(STATE, 'daemon.json'), '{}');
  const log = openSync(join(STATE, 'dockerd.log'), 'w');
  const flags = {
    'config-file': join(STATE, 'daemon.json'),
    'data-root': join(CACHE, 'data'),
    'exec-root': join(STATE, 'exec'),
    pidfile: PID_FILE,
    host: DOCKER_HOST,
    'storage-driver': 'overlay2',
    mtu: '1400',
  };
  const parameters = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  spawn('dockerd', parameters, { detached: true, stdio: ['ignore', log, log] }).unref();
  for (let second = 0; !(await responds()); second += 1) {
    if (second === START_SECONDS) throw new Error(`dockerd does not respond:\n${tailOfLog()}`);
    await sleep(1_000);
  }
}

/**
 * Stops the engine with its containers, which it would start again, and restores the machine's
 * network.
 */
export async function stopDaemon(): Promise<void> {
  await killDaemon();
  if (!existsSync(NETWORK_BEFORE)) return;
  const before = JSON.parse(readFileSync(NETWORK_BEFORE, 'utf8')) as NetworkState;
  await run('iptables-restore', {
    input: `${before.rules}\n${EMPTY_TABLES.filter((table) => !isIn(before.rules, table)).join('')}`,
  });
  for (const bridge of (await listBridges()).split('\n')) {
    if (/^(docker0|br-[0-9a-f]{12})$/.test(bridge) && !before.bridges.split('\n').includes(bridge)) {
      await run(`ip link delete ${bridge}`);
    }
  }
  writeFileSync(IP_FORWARD, before.ipForward);
  rmSync(NETWORK_BEFORE);
}

function isIn(rules: string, table: string): boolean {
  return rules.includes(`${table.split('\n')[0]}\n`);
}

/** Ends the process only, as a restart of the engine does. */
export async function killDaemon(): Promise<void> {
  const pid = pidOf();
  if (pid !== undefined && isRunning()) {
    process.kill(pid, 'SIGTERM');
    while (isRunning()) await sleep(200);
  }
  rmSync(PID_FILE, { force: true });
}

function pidOf(): number | undefined {
  return existsSync(PID_FILE) ? Number(readFileSync(PID_FILE, 'utf8')) : undefined;
}

/** Another program may have got the number of a process that has ended. */
function isRunning(): boolean {
  const commandLine = `/proc/${pidOf() ?? 0}/cmdline`;
  return existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes(PID_FILE);
}

async function responds(): Promise<boolean> {
  return await succeeds('docker version', { env: { DOCKER_HOST }, timeoutMs: 10_000 });
}

async function readNetwork(): Promise<NetworkState> {
  return {
    ipForward: readFileSync(IP_FORWARD, 'utf8'),
    rules: await run('iptables-save'),
    bridges: await listBridges(),
  };
}

async function listBridges(): Promise<string> {
  return await run(`ip -o link show type bridge | cut -d' ' -f2 | tr -d :`);
}

function tailOfLog(): string {
  return readFileSync(join(STATE, 'dockerd.log'), 'utf8').slice(-3_000);
}
