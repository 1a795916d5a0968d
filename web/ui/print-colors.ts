const attribute = 'data-mantine-color-scheme';

/** Prints in light colors. Synchronously, because the browser does not wait for a render. */
export function watchPrinting(): void {
  const root = document.documentElement;
  let ofScreen: string | null = null;
  matchMedia('print').addEventListener('change', ({ matches }) => {
    if (matches) ofScreen = root.getAttribute(attribute);
    if (ofScreen) root.setAttribute(attribute, matches ? 'light' : ofScreen);
  });
}
