/** Installs what the engine of this test needs, on Debian as root. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, succeeds } from '../run.ts';
import { CACHE } from './daemon.ts';

/** The commands, and the packages that have them. */
const COMMANDS = {
  dockerd: 'docker.io',
  docker: 'docker.io',
  iptables: 'iptables',
  ip: 'iproute2',
  mmdebstrap: 'mmdebstrap',
};
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const NONINTERACTIVE = { DEBIAN_FRONTEND: 'noninteractive' };

/** Returns why this machine can start no engine, if so. */
export function whyNoEngineOfOwn(): string | undefined {
  const isDebian = existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  if (!isDebian) return 'Start Docker. On Debian, root needs none: the test starts one itself.';
  if (process.getuid?.() !== 0) return 'Start Docker, or run the test as root, so that it starts an engine itself.';
  return undefined;
}

export async function installPackages(): Promise<void> {
  const missing: string[] = [];
  for (const [command, name] of Object.entries(COMMANDS)) {
    if (!(await succeeds(`command -v ${command}`)) && !missing.includes(name)) missing.push(name);
  }
  if (missing.length === 0) return;
  await run(`apt-get update && apt-get install -y --no-install-recommends ${missing.join(' ')}`, {
    env: NONINTERACTIVE,
  });
}

/**
 * Unpacks the plugins of Docker's command from Debian 13, since Compose of Debian 12 is too old,
 * and returns the directory for DOCKER_CONFIG.
 */
export async function installPlugins(): Promise<string> {
  const config = join(CACHE, 'config');
  const plugins = join(config, 'cli-plugins');
  if (existsSync(join(plugins, 'docker-buildx'))) return config;
  const apt = join(CACHE, 'apt');
  for (const directory of [plugins, join(apt, 'lists', 'partial'), join(apt, 'archives', 'partial')]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(join(apt, 'sources.list'), `deb [signed-by=${KEYRING}] http://deb.debian.org/debian trixie main\n`);
  const options = [
    `Dir::Etc::SourceList=${apt}/sources.list`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${apt}/lists`,
    `Dir::Cache=${apt}`,
    'APT::Sandbox::User=root',
  ];
  const flags = options.map((option) => `-o ${option}`).join(' ');
  await run(
    `apt-get ${flags} update
     apt-get ${flags} download docker-compose docker-buildx
     for package in ./*.deb; do dpkg -x "$package" unpacked; done
     cp unpacked/usr/libexec/docker/cli-plugins/docker-compose unpacked/usr/libexec/docker/cli-plugins/docker-buildx ${plugins}`,
    { cwd: apt },
  );
  return config;
}
