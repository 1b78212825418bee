#!/usr/bin/env node
// The `kasgres` command. TypeScript needs Node 24 to run as it stands, and a machine may have an
// older one: then this file, plain JavaScript for Node 20 and newer, starts itself again with the
// Node that the package `node` has brought along.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) {
  cacheCompiledModules();
  await import('../src/main.ts');
} else {
  startWithPinnedNode();
}

// Stripping the types of several hundred files takes a second of each start. The variable lets the
// programs that this command starts share the cache. The folder belongs to whoever installed the
// packages; if it cannot be written, nothing is cached.
function cacheCompiledModules() {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/kasgres', import.meta.url));
  module.enableCompileCache(process.env['NODE_COMPILE_CACHE']);
}

function startWithPinnedNode() {
  const node = findPinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `Kasgres needs Node ${NEEDED_MAJOR}; this is ${process.version}, and the package "node" that brings the right one is not ` +
        'installed.\nRun `npm ci` in the checkout (with install scripts allowed), or start this with a newer Node.\n',
    );
    process.exit(1);
  }

  // The channel tells the command when this process is gone, however it ended.
  const command = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => command.kill(signal));
  }
  command.on('error', (error) => {
    process.stderr.write(`Cannot start ${node}: ${error.message}\n`);
    process.exit(1);
  });
  command.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
}

function findPinnedNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    return [join(folder, 'bin', 'node.exe'), join(folder, 'bin', 'node')].find((path) => existsSync(path));
  } catch {
    return undefined;
  }
}
