/**
 * Dark or light: as the system, until a person chooses. public/theme.js applies the choice before
 * the first paint.
 */
import { computed, signal } from '@preact/signals';

export type Theme = 'dark' | 'light';

const STORED = 'theme';

const system = matchMedia('(prefers-color-scheme: dark)');
const systemTheme = signal<Theme>(system.matches ? 'dark' : 'light');
system.addEventListener('change', ({ matches }) => {
  systemTheme.value = matches ? 'dark' : 'light';
});

const chosen = signal(document.documentElement.dataset['theme'] as Theme | undefined);

export const theme = computed<Theme>(() => chosen.value ?? systemTheme.value);

function show(choice: Theme): void {
  chosen.value = choice;
  document.documentElement.dataset['theme'] = choice;
}

// A choice in another tab.
addEventListener('storage', ({ key, newValue }) => {
  if (key === STORED && (newValue === 'dark' || newValue === 'light')) show(newValue);
});

export function chooseTheme(choice: Theme): void {
  show(choice);
  try {
    localStorage.setItem(STORED, choice);
  } catch {
    // The choice lasts until the page is reloaded.
  }
}
