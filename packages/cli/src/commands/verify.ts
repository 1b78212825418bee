export async function runVerify(databaseUrl: string): Promise<number> {
  return databaseUrl.length;
}
