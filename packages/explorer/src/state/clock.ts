/** The time for relative times, which all advance together. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});
