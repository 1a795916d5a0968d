import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchAttendance } from './live.ts';
import { queryClient } from './query-client.ts';
import { router } from './routes.tsx';
import { AuthProvider } from './session.tsx';
import { keepPresses } from './ui/kept-presses.ts';
import { watchPrinting } from './ui/print-colors.ts';
import { fontCame, ThemeProvider } from './ui/ThemeProvider.tsx';

watchAttendance();
watchPrinting();
keepPresses();

// oxlint-disable-next-line typescript/no-non-null-assertion -- index.html has it
const root = createRoot(document.getElementById('root')!, {
  // The screen shows the error; the browser's console gets the stack trace.
  onCaughtError: (error) => console.warn(error),
  // Nor was anything lost where React rendered once more without it: the content of a `Screen` that fails is left out of
  // that, as its value is deferred, and is caught with the next render.
  onRecoverableError: (error) => console.warn(error),
});

// Not `await`: with it, the bundler splits the code that every screen needs into more files.
void fontCame.then(() =>
  root.render(
    <StrictMode>
      <ThemeProvider>
        <QueryClientProvider client={queryClient}>
          <AuthProvider>
            <RouterProvider router={router} />
          </AuthProvider>
        </QueryClientProvider>
      </ThemeProvider>
    </StrictMode>,
  ),
);
