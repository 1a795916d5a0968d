import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import './components.css';
import './base.css';
import './print.css';
import { MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { cssVariablesResolver, theme } from './theme.ts';

const waitForFontMs = 500;

/** Wait for the font: a screen rendered before it has loaded shifts afterwards. */
export const fontCame = Promise.race([
  document.fonts.load(`1em ${theme.fontFamily}`).catch(() => undefined),
  new Promise((resolve) => setTimeout(resolve, waitForFontMs)),
]);

/** Theme, fonts and styles. The color scheme is that of the system until the user chooses one. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      {children}
    </MantineProvider>
  );
}
