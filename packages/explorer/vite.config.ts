/**
 * Bundles the explorer into dist, which the API serves. The client is bundled from its source,
 * since it is not built in this repository.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  resolve: {
    alias: {
      '@kasgres/client': fileURLToPath(new URL('../client/src/index.ts', import.meta.url)),
      '@kasgres/programs/script': fileURLToPath(new URL('../programs/src/script.ts', import.meta.url)),
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    // The Content-Security-Policy forbids inline scripts and data URLs of scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.json' },
  },
  // The API of the demo, for `npm run dev -w packages/explorer`.
  server: { proxy: { '/v1': 'http://127.0.0.1:3000', '/docs': 'http://127.0.0.1:3000' } },
});
