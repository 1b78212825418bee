/** Why nodes cannot be followed: the address, the reason, and what to do. */
import { checkNode, nameOfNode, NodeClient, NodeProtocolError, NodeUnsuitableError } from '@kasgres/node';

const RESPONSE_WITHIN_MS = 3_000;

export interface NodeProblem {
  /** One or two sentences that begin with the address. */
  message: string;
  isFinal: boolean;
}

/** Returns the problems of these nodes; undefined if at least one of them can be followed now. */
export async function findNodeProblems(
  urls: readonly string[],
  network: string | undefined,
): Promise<NodeProblem[] | undefined> {
  const problems = await Promise.all(urls.map((url) => findNodeProblem(url, network)));
  const found = problems.filter((problem) => problem !== undefined);
  return found.length < urls.length ? undefined : found;
}

export async function findNodeProblem(url: string, network: string | undefined): Promise<NodeProblem | undefined> {
  const name = nameOfNode(url);
  const client = new NodeClient({ url });
  try {
    const status = await checkNode(client, { deadlineMs: RESPONSE_WITHIN_MS });
    if (network !== undefined && status.network.id !== network) {
      const message = `${name}: it is on ${status.network.id}, but the database holds ${network}. Set NODE_URL to a node of ${network}, or DATABASE_URL to another database.`;
      return { message, isFinal: true };
    }
    if (status.isSynced) return undefined;
    const message = `${name}: it is not synced yet (initial block download, at DAA score ${status.virtualDaaScore.toLocaleString('en')}). Indexing continues when it is; nothing needs to be done.`;
    return { message, isFinal: false };
  } catch (error) {
    if (error instanceof NodeUnsuitableError) return { message: `${name}: ${error.message}`, isFinal: true };
    return { message: `${name}: ${reasonOf(error)}`, isFinal: false };
  } finally {
    await client.close();
  }
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED/,
    'the connection is refused. Start kaspad there, with --rpclisten=0.0.0.0 if it is another machine, or correct NODE_URL.',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the host is not known. Correct it in NODE_URL.'],
  [/within \d+ ms|ETIMEDOUT/, `no response within ${RESPONSE_WITHIN_MS / 1000} s. Check host, port and firewall.`],
  [/EHOSTUNREACH|ENETUNREACH/, 'the host cannot be reached. Check host and network.'],
  [
    /HTTP status|gRPC status 12\b|Protocol error|GOAWAY|ECONNRESET|the connection was closed|EPROTO/i,
    "the program that listens there does not speak kaspad's gRPC. NODE_URL takes the port of --rpclisten (mainnet: 16110), not that of p2p (16111) or wRPC (17110).",
  ],
  [
    /transitional ibd state/,
    'it is replacing its state in the initial block download. Indexing continues afterwards; nothing needs to be done.',
  ],
];

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const known = REASONS.find(([pattern]) => pattern.test(message))?.[1];
  if (known !== undefined) return known;
  return error instanceof NodeProtocolError ? `its response cannot be read: ${message}` : message;
}
