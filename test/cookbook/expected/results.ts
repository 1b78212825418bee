/** Computes the expected results of each request of the cookbook from the history of the demo network. */
import type { Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import type { History } from '../history.ts';
import {
  activeAndNewAddresses,
  addressReuse,
  ageOfUtxos,
  balanceHistory,
  dormancy,
  flowBetweenTwo,
  largestTransfers,
  movers,
  spentTogether,
} from './addresses.ts';
import { feePercentiles, feesAndRevenue, gini, richList, supplyAndEmission, velocity } from './economy.ts';
import { balancesByTag, topClusters, whyTogether } from './names.ts';
import {
  blockInterval,
  fateOfBlocks,
  freshness,
  miningByDay,
  networkByDay,
  parallelism,
  peakThroughput,
  whoMines,
} from './network.ts';
import { doubleInclusion, inclusionDelay, neverAccepted, transactionShapes } from './transactions.ts';

type Oracle = (history: History, names: Names) => Cell[][];

export const expectedResults: Record<string, Oracle> = {
  '01-network-by-day': networkByDay,
  '02-peak-throughput': peakThroughput,
  '03-who-mines': whoMines,
  '04-mining-by-day': miningByDay,
  '05-block-interval': blockInterval,
  '06-supply-and-emission': supplyAndEmission,
  '07-fees-and-revenue': feesAndRevenue,
  '08-fee-percentiles': feePercentiles,
  '09-velocity': velocity,
  '10-rich-list': richList,
  '11-gini': gini,
  '12-active-and-new-addresses': activeAndNewAddresses,
  '13-dormancy': dormancy,
  '14-age-of-utxos': ageOfUtxos,
  '15-address-reuse': addressReuse,
  '16-largest-transfers': largestTransfers,
  '17-balance-history': balanceHistory,
  '18-movers': movers,
  '19-flow-between-two': flowBetweenTwo,
  '20-spent-together': spentTogether,
  '21-inclusion-delay': inclusionDelay,
  '22-transaction-shapes': transactionShapes,
  '23-double-inclusion': doubleInclusion,
  '24-never-accepted': neverAccepted,
  '25-parallelism': parallelism,
  '26-fate-of-blocks': fateOfBlocks,
  '27-balances-by-tag': balancesByTag,
  '28-top-clusters': topClusters,
  '29-why-together': whyTogether,
  '30-freshness': freshness,
};
