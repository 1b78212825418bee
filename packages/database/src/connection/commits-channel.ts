/** The channel on which the indexer notifies listeners, without a payload, of each commit that moves the checkpoint. */
export const COMMITS_CHANNEL = 'kasgres_commits';
