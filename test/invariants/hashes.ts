export { checkInvariant8, checkUtxoCommitment } from '@kasgres/cli';
