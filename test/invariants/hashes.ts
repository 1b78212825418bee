export { checkInvariant8 } from '@kasgres/cli';
