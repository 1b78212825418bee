/** A client written with `fetch` alone, from the tables of docs/api.md. */

export interface HandItem {
  transactionId: string;
  balanceChange: string;
}

interface HandPage {
  transactions: HandItem[];
  metadata: { hasMore: boolean; count: number };
}

/** Returns the whole history of an address, newest first, read in pages of `limit`. */
export async function historyByHand(url: string, key: string, address: string, limit: number): Promise<HandItem[]> {
  const history: HandItem[] = [];
  let cursor = '';
  for (;;) {
    const path = `/v1/addresses/${address}/transactions?limit=${limit}${cursor}`;
    const response = await fetch(url + path, { headers: { 'x-api-key': key } });
    const page = (await response.json()) as HandPage;
    if (response.status !== 200) throw new Error(JSON.stringify(page));
    if (page.metadata.count !== page.transactions.length) throw new Error('count is not the number of items');
    history.push(...page.transactions);
    const last = page.transactions.at(-1);
    if (!page.metadata.hasMore || last === undefined) return history;
    cursor = `&starting_after=${last.transactionId}`;
  }
}
