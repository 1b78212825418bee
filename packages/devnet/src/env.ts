/**
 * The environment of the simulated node. Each `DEVNET_…` variable can be given as a flag too:
 * `DEVNET_PAST_BLOCKS` is `--past-blocks`.
 */
import { parseArgs } from 'node:util';
import { EnvError, LOG_LEVELS, readEnv } from '@kasgres/runtime';
import { z } from 'zod';
import { DEFAULT_OPTIONS, SIMNET_PARAMS } from './simulation/index.ts';

const rate = z.coerce.number().min(0).max(1);
const count = z.coerce.number().int().min(0);
const perSecond = z.coerce.number().min(0).max(1_000);
const PREFIX = 'DEVNET_';

export const devnetEnvSchema = z.object({
  DATA_DIR: z.string().optional().describe('directory of the chain; unset: it is not persisted'),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(0)
    .describe('port of the gRPC server on 127.0.0.1; 0: a free one'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('log level'),
  DEVNET_LISTEN: z
    .string()
    .regex(/^.+:\d+$/, 'must be host:port')
    .optional()
    .describe('address of the gRPC server, instead of PORT'),
  DEVNET_SEED: z.string().default(DEFAULT_OPTIONS.seed).describe('seed of the whole network'),
  DEVNET_COINBASE_MATURITY: count
    .default(SIMNET_PARAMS.coinbaseMaturity)
    .describe('DAA scores until a reward can be spent'),
  DEVNET_PAST_BLOCKS: count.default(3_000).describe('number of blocks at the first start'),
  DEVNET_PAST_TRANSACTIONS: count.default(15_000).describe('payments in these blocks'),
  DEVNET_BLOCKS_PER_SECOND: perSecond
    .default(2)
    .describe('how fast the chain grows, at about 12 kB of memory and 7 kB of disk a block; 0: not at all'),
  DEVNET_TRANSACTIONS_PER_SECOND: perSecond.default(2).describe('payments a second from then on'),
  DEVNET_WAITING_PAYMENTS: count
    .default(1)
    .describe('payments that miners leave in the mempool, so that it is never empty'),
  DEVNET_WIDTH: z.coerce
    .number()
    .min(0)
    .max(20)
    .default(DEFAULT_OPTIONS.width)
    .describe('mean number of blocks that a miner does not know yet'),
  DEVNET_LATE_RATE: rate.default(DEFAULT_OPTIONS.lateRate).describe('share of blocks whose miner is far behind'),
  DEVNET_RED_RATE: rate.default(DEFAULT_OPTIONS.redRate).describe('share of blocks that are so late that they are red'),
  DEVNET_REORG_RATE: rate.default(DEFAULT_OPTIONS.reorgRate).describe('share of blocks that bring a heavier branch'),
  DEVNET_REORG_DEPTH: z
    .string()
    .regex(/^\d+-\d+$/, 'must be two numbers: 1-8')
    .refine(isAscending, 'must be the smaller number first, and at least 1')
    .default(DEFAULT_OPTIONS.reorgDepth.join('-'))
    .describe('chain blocks that such a branch replaces'),
  DEVNET_DUPLICATE_RATE: rate
    .default(DEFAULT_OPTIONS.duplicateRate)
    .describe('share of payments in parallel blocks too'),
  DEVNET_DOUBLE_SPEND_RATE: rate.default(DEFAULT_OPTIONS.doubleSpendRate).describe('share of these double-spent there'),
  DEVNET_TWO_BODIES_RATE: rate
    .default(DEFAULT_OPTIONS.variantRate)
    .describe('share of these with other signatures there'),
  DEVNET_NON_STANDARD_RATE: rate
    .default(DEFAULT_OPTIONS.nonStandardRate)
    .describe('share of payments to scripts without address'),
  DEVNET_APPLICATION_RATE: rate
    .default(DEFAULT_OPTIONS.applicationRate)
    .describe('transactions of covenants, programs, lanes and protocols for each payment'),
});

function isAscending(range: string): boolean {
  const [least = 0, greatest = 0] = range.split('-').map(Number);
  return least >= 1 && least <= greatest;
}

/** Throws `EnvError` with every problem. */
export function readDevnetEnv(args: readonly string[], variables: NodeJS.ProcessEnv) {
  const env = readEnv(devnetEnvSchema, { ...variables, ...variablesOf(args) });
  const [, host = '127.0.0.1', port = String(env.PORT)] = /^(.+):(\d+)$/.exec(env.DEVNET_LISTEN ?? '') ?? [];
  const [least = 1, greatest = 1] = env.DEVNET_REORG_DEPTH.split('-').map(Number);
  return {
    dataDir: env.DATA_DIR,
    host,
    port: Number(port),
    logLevel: env.LOG_LEVEL,
    coinbaseMaturity: env.DEVNET_COINBASE_MATURITY,
    pastBlocks: env.DEVNET_PAST_BLOCKS,
    pastTransactions: env.DEVNET_PAST_TRANSACTIONS,
    blocksPerSecond: env.DEVNET_BLOCKS_PER_SECOND,
    transactionsPerSecond: env.DEVNET_TRANSACTIONS_PER_SECOND,
    pendingPayments: env.DEVNET_WAITING_PAYMENTS,
    options: {
      ...DEFAULT_OPTIONS,
      seed: env.DEVNET_SEED,
      width: env.DEVNET_WIDTH,
      lateRate: env.DEVNET_LATE_RATE,
      redRate: env.DEVNET_RED_RATE,
      reorgRate: env.DEVNET_REORG_RATE,
      reorgDepth: [least, greatest] as const,
      duplicateRate: env.DEVNET_DUPLICATE_RATE,
      doubleSpendRate: env.DEVNET_DOUBLE_SPEND_RATE,
      variantRate: env.DEVNET_TWO_BODIES_RATE,
      nonStandardRate: env.DEVNET_NON_STANDARD_RATE,
      applicationRate: env.DEVNET_APPLICATION_RATE,
    },
  };
}

/** Returns flags as variables. */
function variablesOf(args: readonly string[]): Record<string, string> {
  const names = Object.keys(devnetEnvSchema.shape);
  const values = parseFlags(args, names.map(flagOf));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = values[flagOf(name)];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function parseFlags(args: readonly string[], flags: readonly string[]): Readonly<Record<string, unknown>> {
  const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    throw new EnvError([error instanceof Error ? error.message : String(error)]);
  }
}

function flagOf(name: string): string {
  return name.replace(PREFIX, '').toLowerCase().replaceAll('_', '-');
}
