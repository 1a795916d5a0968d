import { basename } from 'node:path';

/** What the bundler tells of a module. */
type Modules = {
  getModuleInfo(id: string): {
    importedIds: readonly string[];
    dynamicallyImportedIds: readonly string[];
  } | null;
};

/**
 * Which file of the built console a module goes to, so that a screen is a handful of files and not fifty:
 * `base` is what the sign-in screen needs; `console` what the frame of the signed-in console or several screens share;
 * a screen with what only it has at hand is one file, and so are the notices above every screen. Dialogs and charts, which load when they are opened, are left to
 * the bundler.
 */
export function consoleChunks(): (id: string, modules: Modules) => string | null {
  let places: Map<string, string> | undefined;
  return (id, modules) => (places ??= placeAll(modules)).get(id) ?? null;
}

function placeAll(modules: Modules): Map<string, string> {
  const main = new URL('../web/main.tsx', import.meta.url).pathname;
  const base = reach(modules, [main]);
  const routes = [...base].find((id) => id.endsWith('/web/routes.tsx'))!;
  const screens = modules
    .getModuleInfo(routes)!
    .dynamicallyImportedIds.filter((id) => /(Page|SignedIn|NotFound)\.tsx$/.test(id));
  const login = screens.find((id) => id.endsWith('/LoginPage.tsx'))!;
  for (const id of reach(modules, [login])) base.add(id);

  const places = new Map<string, string>();
  for (const screen of screens.filter((id) => id !== login)) {
    const isFrame = screen.endsWith('/SignedIn.tsx');
    for (const id of reach(modules, [screen])) {
      const isShared = isFrame || places.has(id);
      places.set(id, isShared ? 'console' : basename(screen, '.tsx'));
    }
  }
  const notices = modules
    .getModuleInfo(routes)!
    .dynamicallyImportedIds.filter((id) => id.endsWith('Notice.tsx'));
  for (const id of reach(modules, notices)) if (!places.has(id)) places.set(id, 'notices');
  // what the sign-in screen asks for later must not bring a screen with it
  const later = [...base].flatMap((id) => modules.getModuleInfo(id)!.dynamicallyImportedIds);
  for (const id of later) if (!screens.includes(id) && !notices.includes(id)) places.delete(id);
  for (const id of base) places.set(id, 'base');
  return places;
}

/** What loads together with the modules, without anything that loads later. */
function reach(modules: Modules, from: string[]): Set<string> {
  const reached = new Set<string>();
  const waiting = [...from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    // packages have places of their own: their indexes would lead to all that is in them
    if (reached.has(id) || id.includes('/node_modules/')) continue;
    reached.add(id);
    waiting.push(...(modules.getModuleInfo(id)?.importedIds ?? []));
  }
  return reached;
}
