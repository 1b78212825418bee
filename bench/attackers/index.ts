import { ANALYSTS } from './analysts.ts';
import { APPLICATIONS } from './applications.ts';
import type { Attack } from './attack.ts';
import { FLOODS } from './floods.ts';
import { IDENTITIES } from './identities.ts';
import { MEMPOOL } from './mempool.ts';
import { STREAMS } from './streams.ts';
import { WEBHOOKS } from './webhooks.ts';

export const ATTACKS: readonly Attack[] = [
  ...FLOODS,
  ...IDENTITIES,
  ...STREAMS,
  ...WEBHOOKS,
  ...MEMPOOL,
  ...APPLICATIONS,
  ...ANALYSTS,
];
