/** Amounts are whole numbers of sompi, held as bigint; KAS is only how people read them. */

export const SOMPI_PER_KAS = 100_000_000n;
/** More than will ever exist; the node's `maxSompi`. */
export const MAX_SOMPI: bigint = 29_000_000_000n * SOMPI_PER_KAS;

const DECIMALS = 8;

/** An exact decimal number of KAS without idle zeros: `5`, `0.00000001`, `-12.5`. */
export function formatKas(sompi: bigint): string {
  const sign = sompi < 0n ? '-' : '';
  const absolute = sompi < 0n ? -sompi : sompi;
  const fraction = String(absolute % SOMPI_PER_KAS)
    .padStart(DECIMALS, '0')
    .replace(/0+$/, '');
  return `${sign}${absolute / SOMPI_PER_KAS}${fraction === '' ? '' : `.${fraction}`}`;
}
