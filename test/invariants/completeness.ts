export { checkInvariant7 } from '@kasgres/cli';
