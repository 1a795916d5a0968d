import { basename } from 'node:path';

/** The module information of the bundler. */
type Modules = {
  getModuleInfo(id: string): {
    importedIds: readonly string[];
    dynamicallyImportedIds: readonly string[];
  } | null;
};

/** The styles of packages that the first screen has. Packages have no other part here. */
const isBaseStyle = /@mantine[\\/]core[\\/]styles|@fontsource-variable/;

/**
 * Assigns each module of the console to a chunk, so that a screen loads a handful of files instead of fifty. `base`: needed
 * before signing in. `console`: needed by the first load of the licenses screen, with the frame and its notices. `screens`:
 * needed by several of the other screens. `behind`: what loads behind every list. The rest of each screen is one chunk. Dialogs
 * and charts, loaded when opened, are left to the bundler.
 */
export function consoleChunks(listParts: RegExp): (id: string, modules: Modules) => string | null {
  let chunks: Map<string, string> | undefined;
  return (id, modules) =>
    isBaseStyle.test(id)
      ? 'base'
      : listParts.test(id)
        ? 'console'
        : ((chunks ??= assignChunks(modules)).get(id) ?? null);
}

/** Load at once with every list, which is complete without them: the menu of saved views, and what filters open. */
const withLists = ['ViewMenu', 'floating', 'CustomerSelect'];

function assignChunks(modules: Modules): Map<string, string> {
  const main = new URL('../web/main.tsx', import.meta.url).pathname;
  const base = reach(modules, [main]);
  const routes = [...base].find((id) => id.endsWith('/web/routes.tsx')) ?? main;
  const loadedLater = (id: string) => modules.getModuleInfo(id)?.dynamicallyImportedIds ?? [];
  const screens = loadedLater(routes).filter((id) => /(Page|SignedIn|NotFound)\.tsx$/.test(id));
  const isNamed = (name: string) => (id: string) => id.endsWith(`/${name}.tsx`);
  const first = reach(modules, screens.filter(isNamed('SignedIn')));
  const licenses = reach(modules, screens.filter(isNamed('LicensesPage')));
  const login = reach(modules, screens.filter(isNamed('LoginPage')));

  const chunks = new Map<string, string>();
  for (const screen of screens)
    for (const id of reach(modules, [screen])) {
      const shared = login.has(id) ? 'base' : licenses.has(id) ? 'console' : 'screens';
      chunks.set(id, chunks.has(id) ? shared : basename(screen, '.tsx'));
    }
  for (const id of first) chunks.set(id, login.has(id) ? 'base' : 'console');
  // what the sign-in screen loads later must not load a screen too
  const later = [...base].flatMap(loadedLater);
  for (const id of later) if (!screens.includes(id)) chunks.delete(id);
  const behind = [...chunks.keys()]
    .flatMap(loadedLater)
    .filter((id) => withLists.some((name) => isNamed(name)(id)));
  for (const id of reach(modules, behind))
    if (!login.has(id) && !licenses.has(id)) chunks.set(id, id.endsWith('.css') ? 'console' : 'behind');
  for (const id of base) chunks.set(id, 'base');
  // a page whose script is empty is built without it
  chunks.delete(main);
  return chunks;
}

/** The modules and their static imports, transitively. */
function reach(modules: Modules, from: string[]): Set<string> {
  const reached = new Set<string>();
  const waiting = [...from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const imported = modules.getModuleInfo(id)?.importedIds ?? [];
    // not into packages: their index files would lead to everything in them
    if (reached.has(id) || id.includes('/node_modules/')) continue;
    // forms load the schemas
    if (imported.some((one) => one.includes('/node_modules/zod/'))) continue;
    reached.add(id);
    waiting.push(...imported);
  }
  return reached;
}
