/** Runs Prometheus from the PATH (package `prometheus` of Debian) or from PROMETHEUS_BIN. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../support/find-program.ts';
import { freePort, killAtExit } from '../support/programs.ts';

const START_DEADLINE_MS = 60_000;

/** Returns undefined if there is none. Throws if PROMETHEUS_BIN names no program. */
export const findPrometheus = (): string | undefined => findProgram('PROMETHEUS_BIN', 'prometheus');

export interface Sample {
  metric: Record<string, string>;
}

export interface Rule {
  name: string;
  /** 'ok' when its query ran. */
  health: string;
  state: 'inactive' | 'pending' | 'firing';
}

export class Prometheus {
  readonly #url: string;
  readonly #stop: () => Promise<void>;

  /** @param files the text of `prometheus.yml` and of the files that it names */
  static async start(binary: string, files: Record<string, string>): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'kasgres-prometheus-'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const port = await freePort();
    const child = spawn(
      binary,
      [
        `--config.file=${join(directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    killAtExit(child);
    const exited = once(child, 'exit');
    let output = '';
    child.stderr.on('data', (data: Buffer) => {
      output += data.toString();
    });
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await exited;
      await rm(directory, { recursive: true, force: true });
    };
    const url = `http://127.0.0.1:${port}`;
    const giveUpAt = Date.now() + START_DEADLINE_MS;
    while (!(await isReady(url))) {
      if (child.exitCode !== null) throw new Error(`Prometheus stopped:\n${output}`);
      if (Date.now() > giveUpAt) throw new Error(`Prometheus does not respond:\n${output}`);
      await sleep(50);
    }
    return new Prometheus(url, stop);
  }

  private constructor(url: string, stop: () => Promise<void>) {
    this.#url = url;
    this.#stop = stop;
  }

  /** @throws with Prometheus's message if the expression is invalid */
  async query(expression: string): Promise<Sample[]> {
    const { result } = await this.#ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}`);
    return result;
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.#ask<{ groups: { rules: Rule[] }[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  async firing(): Promise<string[]> {
    return (await this.rules()).filter(({ state }) => state === 'firing').map(({ name }) => name);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  async #ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const result = (await response.json()) as { status: string; data: T; error?: string };
    if (result.status !== 'success') throw new Error(`${path}: ${result.error}`);
    return result.data;
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/-/ready`)).ok;
  } catch {
    return false;
  }
}
