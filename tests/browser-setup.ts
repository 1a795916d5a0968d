import { stubBrowser } from './browser.ts';

// Before each file: a file must not depend on which other ran before it in its worker.
stubBrowser();
