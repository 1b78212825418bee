/**
 * Notifications without a payload. Everybody who may connect can notify any channel whose name is
 * known to them, and a listener receives each one: so the names end with a secret that only the
 * programs can read.
 */
import type { ClientBase } from 'pg';

/** `commits`: the indexer has moved the checkpoint. `webhooks`: a webhook has changed. */
export type Channel = 'commits' | 'webhooks';

/** A statement that notifies a channel. */
export const notifyStatement = (channel: Channel): string =>
  `select pg_notify('kasgres_${channel}_' || secret, '') from notification_secret`;

/** Lets a connection receive the notifications of channels. Throws as a query. */
export async function listenTo(client: Pick<ClientBase, 'query'>, ...channels: readonly Channel[]): Promise<void> {
  const { rows } = await client.query<{ secret: string }>('select secret from notification_secret');
  for (const { secret } of rows) {
    for (const channel of channels) await client.query(`listen kasgres_${channel}_${secret}`);
  }
}
