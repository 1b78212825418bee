import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { Card, Facts, Load, Page, Pager, Tabs, useCursor } from '../components/page.tsx';
import { TransactionList } from '../components/transfers.tsx';
import {
  Amount,
  BlockBadge,
  ChainText,
  CopyButton,
  HashLink,
  NamedAddress,
  PlainHash,
  Time,
} from '../components/values.tsx';
import { formatCompact, formatCount, formatTime, shortHash } from '../format.ts';
import { DagAround } from '../dag/panel.tsx';
import { serverNow } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';

type Details = Schema<'BlockDetails'>;

const REFRESH_MS = 3000;

/** Rewards are unknown until a chain block merges the block. */
const Reward = ({ sompi }: { sompi: string | null }) =>
  sompi === null ? <span class="muted">known once merged</span> : <Amount sompi={sompi} />;

function Hashes({ hashes }: { hashes: readonly string[] }) {
  if (hashes.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="hashes">
      {hashes.map((hash) => (
        <li key={hash}>
          <HashLink kind="block" hash={hash} />
        </li>
      ))}
    </ul>
  );
}

function Overview({ block }: { block: Details }) {
  const { verboseData, miner } = block;
  return (
    <div class="columns">
      <Card title="Overview">
        <Facts
          facts={[
            [
              'Time',
              <>
                <Time ms={block.timestamp} /> <span class="muted">{formatTime(block.timestamp)}</span>
              </>,
            ],
            ['Blue score', formatCount(block.blueScore)],
            ['DAA score', formatCount(block.daaScore)],
            ['Confirmations', formatCount(block.confirmations)],
            [
              'Merged by',
              block.mergingBlockHash === null ? (
                <span class="muted">not merged</span>
              ) : (
                <HashLink kind="block" hash={block.mergingBlockHash} />
              ),
            ],
            ['Parents', <Hashes hashes={block.header.parentsByLevel[0] ?? []} />],
            ['Children', <Hashes hashes={verboseData.childrenHashes} />],
          ]}
        />
      </Card>
      <Card title="Miner and rewards, KAS">
        {miner === null ? (
          <p class="muted">Nobody mined genesis, and it earns nothing.</p>
        ) : (
          <Facts
            facts={[
              ['Miner', <NamedAddress {...miner} />],
              [
                'Extra data',
                miner.extraText === null ? (
                  <span class="mono">{miner.extraData}</span>
                ) : (
                  <ChainText text={miner.extraText} />
                ),
              ],
              ['Subsidy', <Reward sompi={block.subsidy} />],
              ['Fees', <Reward sompi={block.fees} />],
              ['From red blocks', <Reward sompi={block.redReward} />],
              ['Reward', <Reward sompi={block.reward} />],
              [
                'Paid by',
                block.rewardTransactionId === null ? (
                  <span class="muted">not paid yet</span>
                ) : (
                  <HashLink kind="transaction" hash={block.rewardTransactionId} />
                ),
              ],
            ]}
          />
        )}
      </Card>
    </div>
  );
}

function Header({ block: { header, verboseData } }: { block: Details }) {
  return (
    <Card title="Header">
      <Facts
        facts={[
          ['Selected parent', <HashLink kind="block" hash={verboseData.selectedParentHash} isLong />],
          ['Merged blue', <Hashes hashes={verboseData.mergeSetBluesHashes} />],
          ['Merged red', <Hashes hashes={verboseData.mergeSetRedsHashes} />],
          ['Transactions root', <PlainHash hash={header.hashMerkleRoot} label="transactions root" />],
          ['Accepted ids root', <PlainHash hash={header.acceptedIdMerkleRoot} label="accepted ids root" />],
          ['UTXO commitment', <PlainHash hash={header.utxoCommitment} label="UTXO commitment" />],
          ['Pruning point', <HashLink kind="block" hash={header.pruningPoint} isLong />],
          ['Blue work', <span class="mono">{header.blueWork}</span>],
          ['Difficulty', formatCompact(verboseData.difficulty)],
          ['Bits', <span class="mono">{header.bits}</span>],
          ['Nonce', <span class="mono">{header.nonce}</span>],
          ['Version', header.version],
        ]}
      />
    </Card>
  );
}

function Transactions({ block: { hash, isChainBlock, mergingBlockHash } }: { block: Details }) {
  const { query } = useLocation();
  const cursor = useCursor();
  const relation = query['show'] === 'accepted' ? 'accepted' : 'contained';
  const parameters = { limit: 20, relation, include: 'tags', ...cursor } as const;
  /** The chain accepts transactions of a block when it merges the block. */
  const state = `${isChainBlock} ${mergingBlockHash}`;
  const transactions = useResource(`transactions of ${hash} ${JSON.stringify(parameters)}`, async (client) => ({
    state,
    ...(await client.get('/v1/blocks/{hash}/transactions', { params: { path: { hash }, query: parameters } })),
    loadedAt: serverNow(),
  }));
  const { data, refresh } = transactions;
  useEffect(() => {
    if (data !== undefined && data.state !== state) refresh();
  }, [data, state]);
  return (
    <Card
      title="Transactions"
      aside={
        <Tabs
          label="Relation to the block"
          parameter="show"
          tabs={[
            ['contained', 'Contained'],
            ['accepted', 'Accepted by it'],
          ]}
          current={relation}
        />
      }
    >
      <Load resource={transactions} rows={8}>
        {({ transactions: rows, loadedAt, tags, metadata }) => (
          <>
            <TransactionList
              transactions={rows}
              loadedAt={loadedAt}
              tags={tags}
              empty={
                relation === 'accepted' ? 'This block accepts no transactions.' : 'This block contains no transactions.'
              }
            />
            <Pager
              metadata={metadata}
              first={rows[0]?.transactionId}
              last={rows.at(-1)?.transactionId}
              labels={['Previous', 'Next']}
            />
          </>
        )}
      </Load>
    </Card>
  );
}

export function BlockPage({ hash }: { hash: string }) {
  const resource = useResource(
    `block ${hash}`,
    (client) => client.get('/v1/blocks/{hash}', { params: { path: { hash }, query: { include_transactions: false } } }),
    { refreshMs: REFRESH_MS },
  );
  const block = resource.data?.block;
  return (
    <Page
      title={`Block ${shortHash(hash)}`}
      heading={
        <>
          Block {block !== undefined && <BlockBadge {...block} />}
          <span class="subject mono">
            {hash} <CopyButton value={hash} label="block hash" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="No such block is indexed.">
        {({ block: details }) => (
          <>
            <DagAround hash={hash} />
            <Overview block={details} />
            <Transactions block={details} />
            <Header block={details} />
          </>
        )}
      </Load>
    </Page>
  );
}
