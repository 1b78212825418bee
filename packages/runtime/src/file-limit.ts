/**
 * Returns how many files and connections this process may have open. Node.js raises the soft limit
 * to the hard one at its start.
 */
export function readFileLimit(): number {
  const { report } = process;
  // Otherwise the report looks up names of connected peers.
  Object.assign(report, { excludeNetwork: true });
  // The type of a report is that of any object. On Windows it has no limits.
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY;
}
