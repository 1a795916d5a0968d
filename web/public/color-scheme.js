(() => {
  let wanted = null;
  try {
    wanted = localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage is blocked: the system decides.
  }
  const dark =
    wanted === 'dark' || (wanted !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
