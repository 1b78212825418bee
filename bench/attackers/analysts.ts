/**
 * An analyst who fills the queue of notifications as far as Postgres allows, and holds its tail in
 * a transaction.
 */
import { clientConfig } from '@kasgres/database';
import { Client, DatabaseError } from 'pg';
import { type Attack, type Attacker, onlyExpects, requires } from './attack.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
/** Two megabytes. */
const MESSAGES = 256;
const MESSAGE_CHARACTERS = 7_900;

/** Works with sessions, one after the other, until the end: the server may end them. */
async function withSessions(attacker: Attacker, work: (session: Client) => Promise<void>): Promise<void> {
  while (!attacker.isOver) {
    const session = new Client(clientConfig(attacker.options.analystUrl));
    session.on('error', () => undefined);
    try {
      await session.connect();
      while (!attacker.isOver) await work(session);
    } catch {
      attacker.count('sessions that the server ended');
    }
    await session.end().catch(() => undefined);
    await attacker.pause(500);
  }
}

async function callFunction(attacker: Attacker): Promise<void> {
  await withSessions(attacker, async (session) => {
    const outcome = await session.query('select pg_notify($1, $2)', ['a', 'b'.repeat(MESSAGE_CHARACTERS)]).then(
      () => 'sent',
      (error: unknown) => {
        if (error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return 'refused';
        throw error;
      },
    );
    attacker.count(outcome);
    await attacker.pause(50);
  });
}

/**
 * Nobody can take away the command. Analysts have no language for loops, so they send the whole
 * text.
 */
async function runCommands(attacker: Attacker, channel: string): Promise<void> {
  const text = 'x'.repeat(MESSAGE_CHARACTERS);
  const commands = Array.from({ length: MESSAGES }, (_, index) => `notify ${channel}, '${index} ${text}'`).join(';');
  await withSessions(attacker, async (session) => {
    await session.query(commands);
    attacker.count('messages', MESSAGES);
    await attacker.pause(100);
  });
}

/**
 * Notifications that a listener has not read stay in the queue, and a listener in a transaction
 * reads none.
 */
async function holdTail(attacker: Attacker): Promise<void> {
  await withSessions(attacker, async (session) => {
    await session.query('listen a');
    await session.query('begin');
    attacker.count('transactions');
    while (!attacker.isOver) await session.query('select pg_sleep(1)');
  });
}

export const ANALYSTS: readonly Attack[] = [
  { name: 'pg_notify by an analyst', run: callFunction, findFault: onlyExpects('refused') },
  { name: 'NOTIFY by an analyst', run: (attacker) => runCommands(attacker, 'a'), findFault: requires('messages') },
  {
    name: 'NOTIFY of commits by an analyst',
    run: (attacker) => runCommands(attacker, 'kasgres_commits'),
    findFault: requires('messages'),
  },
  { name: 'held notifications', run: holdTail, findFault: requires('transactions') },
];
