/** getVirtualChainFromBlock from every recorded start, and what getCurrentBlockColor and getBlockRewardInfo say of a block. */
import { Findings, questions, type Stage, statusOf } from './stage.ts';

/** The API has no minConfirmationCount. */
export async function compareVirtualChains(stage: Stage): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of questions(stage, 'getVirtualChainFromBlock')) {
    if ((request.minConfirmationCount ?? 0n) > 0n) continue;
    const { startHash, includeAcceptedTransactionIds } = request;
    const answer = await stage.api.post('/v1/rpc/getVirtualChainFromBlock', {
      startHash,
      includeAcceptedTransactionIds,
    });
    const { removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds, error } = response;
    const accepted = acceptedTransactionIds.map((group) => ({
      acceptingBlockHash: group.acceptingBlockHash,
      acceptedTransactionIds: group.acceptedTransactionIds,
    }));
    const body = { removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds: accepted };
    const wanted = error === undefined ? { body } : { status: statusOf(error.message) };
    findings.compare(`virtual chain from ${startHash}`, answer, wanted);
  }
  return findings;
}

interface MergedRow {
  is_blue: boolean | null;
  merging_block: string | null;
}

/** In the database: the API shows colours in a look-up that is still to come. */
export async function compareColours(stage: Stage): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of questions(stage, 'getCurrentBlockColor')) {
    const recorded = response.error === undefined ? response.blue : null;
    const stored = (await findMerged(stage, request.hash))?.is_blue ?? null;
    const faults = stored === recorded ? [] : [`colour of ${request.hash}: blue ${stored}, not ${recorded}`];
    findings.add(faults, 1);
  }
  for (const { request, response } of questions(stage, 'getBlockRewardInfo')) {
    if (response.error !== undefined) continue;
    const recorded = response.mergingChainBlockHash ?? null;
    const stored = (await findMerged(stage, request.hash))?.merging_block ?? null;
    const faults = stored === recorded ? [] : [`${request.hash} is merged by ${stored}, not ${recorded}`];
    findings.add(faults, 1);
  }
  return findings;
}

async function findMerged({ pool }: Stage, hash: string): Promise<MergedRow | undefined> {
  const { rows } = await pool.query<MergedRow>(
    `select b.is_blue, encode(merging.hash, 'hex') as merging_block
     from blocks b left join blocks merging on merging.id = b.merging_block_id where encode(b.hash, 'hex') = $1`,
    [hash],
  );
  return rows[0];
}
