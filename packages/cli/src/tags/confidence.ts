// How sure a source is: GraphSense's taxonomy of confidence (graphsense-tagpack-tool, src/tagpack/db/confidence.csv), or a number.

const CONFIDENCE_LEVELS: Readonly<Record<string, number>> = {
  override: 100,
  ownership: 100,
  ledger_immanent: 100,
  manual_transaction: 90,
  service_api: 70,
  forensic_investigation: 70,
  authority_data: 60,
  trusted_provider: 50,
  service_data: 50,
  forensic: 50,
  untrusted_transaction: 40,
  web_crawl: 20,
  heuristic: 10,
  unknown: 5,
};

/** What GraphSense takes a TagPack for that does not say. */
export const UNKNOWN_CONFIDENCE_LEVEL = 5;

/** Undefined for what is neither one of the ids nor a whole number from 0 to 100. */
export function findConfidenceLevel(text: string): number | undefined {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= 100 ? Number(text) : undefined;
  return Object.hasOwn(CONFIDENCE_LEVELS, text) ? CONFIDENCE_LEVELS[text] : undefined;
}
