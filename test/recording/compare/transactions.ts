/** Acceptance of every transaction seen so far, by 500 ids at a time. */
import { toHex } from '@kasgres/kaspa';
import { chunks } from '../../node/compare/in-parallel.ts';
import { Findings, type Stage } from './stage.ts';

const MAX_IDS = 500;

export async function compareAcceptance({ node, api }: Stage): Promise<Findings> {
  const { dag } = node;
  const ids = [...dag.allBlocks()].flatMap(({ transactions }) =>
    transactions.map(({ transactionId }) => toHex(transactionId)),
  );
  const findings = new Findings();
  for (const transactionIds of chunks([...new Set(ids), 'ab'.repeat(32)], MAX_IDS)) {
    const answer = await api.post('/v1/transactions/acceptance', { transactionIds });
    const transactions = transactionIds.map((transactionId) => {
      const acceptingBlock = dag.findAcceptingBlock(transactionId);
      return {
        transactionId,
        isAccepted: acceptingBlock !== undefined,
        acceptingBlockHash: acceptingBlock?.hash ?? null,
        confirmations:
          acceptingBlock === undefined ? 0 : Number(dag.sink.header.blueScore - acceptingBlock.header.blueScore),
      };
    });
    findings.compare('acceptance', answer, { body: { transactions } });
  }
  return findings;
}
