export { checkGhostdag, checkInvariant7 } from '@kasgres/cli';
