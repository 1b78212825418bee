// Applies the chosen theme before the first paint. Without a choice, the page follows the system.
try {
  const theme = localStorage.getItem('theme');
  if (theme !== null) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is disabled.
}
