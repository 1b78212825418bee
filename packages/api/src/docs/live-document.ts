/**
 * The document of the page at /docs: what somebody executes there finds something, since the examples are of the index and the node that
 * serve it. Made at most once a minute, however many pages are opened.
 */
import type { Services } from '../services.ts';
import { exampleRequests } from './example-requests.ts';
import { findLandmarks } from './find-landmarks.ts';
import { type OpenApiDocument, withExamples } from './with-examples.ts';

const LIFE_MS = 60_000;
/** After a failure: a database that is away is not asked by every page. */
const RETRY_AFTER_MS = 5_000;

/** These keep what the committed document has: a payment that nobody signed cannot be made up, and no node answers the last. */
const COMMITTED = ['submitTransaction', 'submitBlock', 'getSubnetwork'];

export class LiveDocument {
  readonly #document: OpenApiDocument;
  readonly #services: Services;
  #text: Promise<string> | undefined;
  #validUntil = 0;

  /** @param document with the examples that are used while the index has none */
  constructor(document: OpenApiDocument, services: Services) {
    this.#document = document;
    this.#services = services;
  }

  /** JSON. Never rejects: `onFailure` is told what stood in the way of examples of the index. */
  getText(onFailure: (error: unknown) => void): Promise<string> {
    const now = performance.now();
    if (this.#text === undefined || this.#validUntil < now) {
      this.#validUntil = now + LIFE_MS;
      this.#text = this.#makeText().catch((error: unknown) => {
        onFailure(error);
        this.#validUntil = performance.now() + RETRY_AFTER_MS;
        return JSON.stringify(this.#document);
      });
    }
    return this.#text;
  }

  async #makeText(): Promise<string> {
    const landmarks = await findLandmarks(this.#services);
    if (landmarks === undefined) {
      // The first blocks may come any moment.
      this.#validUntil = performance.now() + RETRY_AFTER_MS;
      return JSON.stringify(this.#document);
    }
    const requests = exampleRequests({ ...landmarks, payment: {} });
    for (const operationId of COMMITTED) delete requests[operationId];
    // The mempool has orphans now and then at most.
    requests['getMempoolEntriesOfPools'] = { body: { includeOrphanPool: true, filterTransactionPool: false } };
    return JSON.stringify(withExamples(this.#document, requests));
  }
}
