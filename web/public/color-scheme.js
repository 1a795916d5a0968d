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

  // Without one of the files that every screen needs there is no console that could say so.
  const onError = ({ target }) => {
    const root = document.getElementById('root');
    // other scripts are of an extension or a proxy, and the console opens without them
    const isOurs = target instanceof HTMLScriptElement && target.type === 'module';
    if (!isOurs || !root || root.hasChildNodes()) return;
    root.setAttribute('role', 'alert');
    root.style.padding = '16px';
    root.textContent =
      'Lanyard could not be loaded: it was updated, or the server could not be reached. Check the connection and load the page again.';
  };
  addEventListener('error', onError, { capture: true });
})();
