export { checkInvariant4 } from '@kasgres/cli';
