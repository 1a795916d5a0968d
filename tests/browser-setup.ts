import { stubBrowser } from './browser.ts';

// Before each file: a file must not depend on which other ran before it in its worker, nor on how its session ended.
stubBrowser();
const { clearSession } = await import('../web/session-store.ts');
clearSession({ asked: true });
