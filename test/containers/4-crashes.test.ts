/**
 * Each service stopped and killed, the engine restarted, and all cores busy: the index continues by
 * itself, and is right.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DOCKER_HOST, killDaemon, startDaemon } from './engine/daemon.ts';
import {
  compose,
  engine,
  inspect,
  LONG_RUNNING,
  PROGRAMS,
  request,
  shell,
  tryShell,
  untilFollowing,
  untilHealthy,
} from './operator.ts';

const SERVICES = [...LONG_RUNNING, 'simulated-node'] as const;
const STOP_SECONDS = 30;

describe.skipIf(engine.missing !== undefined)('the composition', () => {
  test.each(SERVICES)('it continues after `docker stop` of %s, which ends cleanly', async (service) => {
    const id = await compose(`ps --quiet ${service}`);
    const started = Date.now();
    await shell(`docker stop ${id}`);
    expect((Date.now() - started) / 1_000).toBeLessThan(STOP_SECONDS);
    expect(await inspect(service, '.State.ExitCode')).toBe(0);
    await shell(`docker start ${id}`);
    await untilHealthy();
    await untilFollowing();
  });

  test.each(SERVICES)('it continues after `kill -9` of %s, which is restarted', async (service) => {
    const before = await inspect<number>(service, '.RestartCount');
    const pid = await inspect<number>(service, '.State.Pid');
    // `docker kill` would count as a wish that it stays stopped. The engine may have another
    // machine's processes.
    await shell(
      `docker run --rm --cap-add KILL --pid host --user root --entrypoint sh postgres:17-bookworm -c 'kill -9 ${pid}'`,
    );
    await expect.poll(async () => await inspect<number>(service, '.RestartCount')).toBe(before + 1);
    await untilHealthy();
    await untilFollowing();
  });

  test.runIf(engine.isOwn)('it continues after a restart of the engine', async () => {
    expect(process.env['DOCKER_HOST']).toBe(DOCKER_HOST);
    const before = await inspect<string>('api', '.State.StartedAt');
    await killDaemon();
    await startDaemon();
    await expect.poll(async () => await inspect<string>('api', '.State.StartedAt')).not.toBe(before);
    await untilHealthy();
    await untilFollowing();
  });

  test('a program stays healthy while all cores are busy, and becomes unhealthy when it does not respond', async () => {
    const id = await compose('ps --quiet webhooks');
    // As if forty others used the same core.
    await shell(`docker update --cpus 0.025 ${id}`);
    try {
      // Otherwise the test would show nothing.
      const start = `docker compose exec -T webhooks timeout 5 node -e 'fetch("http://127.0.0.1:9100/healthz")'`;
      expect((await tryShell(start)).code).not.toBe(0);
      const checksBefore = JSON.stringify(await inspect('webhooks', '.State.Health.Log'));
      for (let checks = 0; checks < 4; checks += 1) {
        await sleep(15_000);
        expect(await inspect('webhooks', '.State.Health.Status')).toBe('healthy');
      }
      expect(JSON.stringify(await inspect('webhooks', '.State.Health.Log'))).not.toBe(checksBefore);
    } finally {
      await shell(`docker update --cpus 1 ${id}`);
    }
    // The check itself still runs.
    await compose(`exec -T webhooks sh -c 'kill -STOP -1'`);
    await expect
      .poll(async () => await inspect('webhooks', '.State.Health.Status'), { timeout: 180_000 })
      .toBe('unhealthy');
    await compose(`exec -T webhooks sh -c 'kill -CONT -1'`);
    await untilHealthy();
  });

  test('the index is right afterwards, and no program was denied anything', async () => {
    expect((await request('/v1/status')).status).toBe(200);
    const { code, output } = await tryShell('docker compose run --rm migrate verify');
    expect(code, output).toBe(0);
    expect(await compose(`logs ${PROGRAMS.join(' ')}`)).not.toMatch(/permission denied|deprecat/i);
  });
});
