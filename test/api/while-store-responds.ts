/**
 * Runs a scenario of shared windows. On a busy machine their store may be late, and requests are
 * refused with a 503: then the scenario is repeated.
 * @param failures returns how often the store has failed
 */
export async function whileStoreResponds(
  failures: () => Promise<number>,
  scenario: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await failures();
    try {
      return await scenario();
    } catch (error) {
      if (attempt === 5 || (await failures()) === before) throw error;
      // The pause after a failure.
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
