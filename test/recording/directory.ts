/** Which recording the tests here are about: the directory in RECORDING, else the small one that is committed. */
import path from 'node:path';

export const recordingDirectory: string = process.env['RECORDING'] ?? path.join(import.meta.dirname, 'recorded');
