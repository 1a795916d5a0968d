import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '@mantine/core/styles.layer.css';
import './base.css';
import './print.css';
import { MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { cssVariablesResolver, theme } from './theme.ts';

const waitForFontMs = 500;

/** Every width depends on the font: a screen that is drawn before it is there jumps when it comes. */
export const fontCame = Promise.race([
  document.fonts.load(`1em ${theme.fontFamily}`).catch(() => undefined),
  new Promise((resolve) => setTimeout(resolve, waitForFontMs)),
]);

/** Theme, fonts and styles for everything below; the color scheme is the system's until a person chooses. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      {children}
    </MantineProvider>
  );
}
