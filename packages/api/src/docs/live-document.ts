/** The document of the page at /docs, with examples from this index and its node, so that they can be executed. Built at most once per minute. */
import type { Services } from '../services.ts';
import { exampleRequests } from './example-requests.ts';
import { findLandmarks } from './find-landmarks.ts';
import { type OpenApiDocument, withExamples } from './with-examples.ts';

const LIFE_MS = 60_000;
/** Also after a failure, so that a database outage is not queried for every page. */
const RETRY_AFTER_MS = 5_000;

/** These keep the example of the committed document: a signed payment cannot be made up, and no node implements the last. */
const COMMITTED = ['submitTransaction', 'submitBlock', 'getSubnetwork'];

export class LiveDocument {
  readonly #document: OpenApiDocument;
  readonly #services: Services;
  #text: Promise<string> | undefined;
  #validUntil = 0;

  /** @param document has the examples that are used while the index has none */
  constructor(document: OpenApiDocument, services: Services) {
    this.#document = document;
    this.#services = services;
  }

  /** Returns JSON, and never rejects: errors in finding examples are passed to `onFailure`. */
  getText(onFailure: (error: unknown) => void): Promise<string> {
    const now = performance.now();
    if (this.#text === undefined || this.#validUntil < now) {
      this.#validUntil = now + LIFE_MS;
      this.#text = this.#buildText().catch((error: unknown) => {
        onFailure(error);
        this.#validUntil = performance.now() + RETRY_AFTER_MS;
        return JSON.stringify(this.#document);
      });
    }
    return this.#text;
  }

  async #buildText(): Promise<string> {
    const landmarks = await findLandmarks(this.#services);
    if (landmarks === undefined) {
      // The first blocks may arrive at any time.
      this.#validUntil = performance.now() + RETRY_AFTER_MS;
      return JSON.stringify(this.#document);
    }
    const requests = exampleRequests({ ...landmarks, payment: {} });
    for (const operationId of COMMITTED) delete requests[operationId];
    // The mempool rarely has orphans.
    requests['getMempoolEntriesOfPools'] = { body: { includeOrphanPool: true, filterTransactionPool: false } };
    return JSON.stringify(withExamples(this.#document, requests));
  }
}
