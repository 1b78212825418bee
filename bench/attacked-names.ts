/**
 * Preloaded into `kasgres webhooks` (`node --import`): names are looked up at the name server whose
 * port is NAME_SERVER_PORT. An attacker owns the name server of a name, but nobody owns one on the
 * machine of a benchmark.
 */
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:dns/promises';

const port = process.env['NAME_SERVER_PORT'];
const { Resolver } = promises;
promises.Resolver = class extends Resolver {
  constructor(...given: ConstructorParameters<typeof Resolver>) {
    super(...given);
    this.setServers([`127.0.0.1:${port}`]);
  }
};
syncBuiltinESMExports();
