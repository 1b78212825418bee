/**
 * Loaded into a program by `--import`: measures how long the event loop is blocked, in CPU time of
 * its thread, so that a busy machine does not count. GET on EVENT_LOOP_PORT returns the longest
 * time since the last GET, in milliseconds.
 */
import { createServer } from 'node:http';

const EVERY_MS = 2;

let longestMs = 0;
let last = cpuMs();
setInterval(() => {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, EVERY_MS).unref();

createServer((_request, response) => {
  response.end(String(longestMs));
  longestMs = 0;
})
  .listen(Number(process.env['EVENT_LOOP_PORT']), '127.0.0.1')
  .unref();

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
