// Why a node cannot be followed yet, for the person at the terminal: its address, the reason, and what to do.

import { checkNode, nameOfNode, NodeClient, NodeProtocolError, NodeUnsuitableError } from '@kasgres/node';

const RESPONSE_WITHIN_MS = 3_000;

export interface NodeProblem {
  /** One sentence or two, which begin with the address. */
  text: string;
  /** Waiting does not help. */
  isFinal: boolean;
}

/** What stands against following this node now; undefined if nothing does. */
export async function findNodeProblem(url: string, network: string | undefined): Promise<NodeProblem | undefined> {
  const name = nameOfNode(url);
  const client = new NodeClient({ url });
  try {
    const status = await checkNode(client, { deadlineMs: RESPONSE_WITHIN_MS });
    if (network !== undefined && status.network.id !== network) {
      const text = `${name}: it is on ${status.network.id}, but ${network} is indexed here. Point NODE_URL at a node of ${network}, or DATABASE_URL at another database.`;
      return { text, isFinal: true };
    }
    if (status.isSynced) return undefined;
    const text = `${name}: it is not synced yet (initial block download, at DAA score ${status.virtualDaaScore.toLocaleString('en')}). Nothing is to be done: it goes on once the node is.`;
    return { text, isFinal: false };
  } catch (error) {
    if (error instanceof NodeUnsuitableError) return { text: `${name}: ${error.message}`, isFinal: true };
    return { text: `${name}: ${reasonOf(error)}`, isFinal: false };
  } finally {
    await client.close();
  }
}

/** What a connection fails with, and what it means. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED/,
    'the connection is refused. Start kaspad there, with --rpclisten=0.0.0.0 if it is another machine, or correct NODE_URL.',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the host is not known. Correct it in NODE_URL.'],
  [/within \d+ ms|ETIMEDOUT/, `no response within ${RESPONSE_WITHIN_MS / 1000} s. Check host, port and firewall.`],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no way to that host. Check host and network.'],
  [
    /HTTP status|gRPC status 12\b|Protocol error|GOAWAY|ECONNRESET|the connection was closed|EPROTO/i,
    "what listens there does not speak kaspad's gRPC. NODE_URL takes the port of --rpclisten (mainnet: 16110), not that of p2p (16111) or wRPC (17110).",
  ],
  [
    /transitional ibd state/,
    'it is replacing its state in the initial block download. Nothing is to be done: it goes on once the node is through.',
  ],
];

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const known = REASONS.find(([pattern]) => pattern.test(message))?.[1];
  if (known !== undefined) return known;
  return error instanceof NodeProtocolError ? `its response cannot be read: ${message}` : message;
}
