import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { consoleChunks } from './tools/console-chunks.ts';
import { consoleContract } from './tools/console-contract.ts';

/** What git says, or nothing where there is no git or no commit (an unpacked archive, a container build). */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const build = process.env['LANYARD_BUILD'] || git('rev-list', '--count', 'HEAD') || '0';
const commit = process.env['LANYARD_COMMIT'] || git('rev-parse', '--short', 'HEAD') || 'dev';

/** The console never writes JSON Schema, and zod's part for it is a fifth of what zod weighs in the browser. */
const withoutJsonSchema: Plugin = {
  name: 'zod-without-json-schema',
  apply: 'build',
  transform: {
    filter: { id: /zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/ },
    handler: (code) => {
      const names = [...code.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name]) => name);
      return { code: names.map((name) => `export const ${name} = () => undefined;`).join('\n'), map: null };
    },
  },
};

/**
 * zod tries `new Function` to see whether it may compile its parsers, which our content security policy refuses and
 * reports. Said in zod's own file: schemas are made while modules load, before any module of ours could say it.
 */
const zodWithoutEval: Plugin = {
  name: 'zod-without-eval',
  apply: 'build',
  transform: {
    filter: { id: /zod\/v4\/core\/core\.js$/ },
    handler: (code) => ({ code: `${code}\nconfig({ jitless: true });\n`, map: null }),
  },
};

/**
 * Parts of components that the console never shows. As properties of components that it shows, they would be loaded with
 * them. Whoever begins to use one meets React's error in the build until it is taken from here.
 */
const unusedParts =
  /^(Menu\.(CheckboxGroup|CheckboxItem|ContextMenu|Label|RadioGroup|RadioItem|Search|Sub)|Popover\.ContextMenu|Tooltip\.(Floating|Group)|(Modal|Drawer)\.Stack|Checkbox\.(Card|Indicator)|(Button|ActionIcon)\.(Group|GroupSection)) = \w+;$/gm;

const withoutUnusedParts: Plugin = {
  name: 'mantine-without-unused-parts',
  apply: 'build',
  transform: {
    filter: { id: /@mantine\/core\/esm\/components\/(\w+)\/\1\.mjs$/ },
    handler: (code) => ({ code: code.replace(unusedParts, ''), map: null }),
  },
};

/** Every text file once more as .br and .gz: compressed at the build, never at an answer. */
const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  writeBundle: ({ dir = 'dist/web' }) => {
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|css|svg|wasm)$/.test(name)) continue;
      const text = readFileSync(join(dir, name));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(text, { level: 9 }));
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(text));
    }
  },
};

const service = `http://localhost:${process.env['PORT'] || 8080}`;
const servicePaths = ['/api/', '/analytics/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'];

/** The packages whose paths match one of the patterns, and parts of the UI library by their names. */
const packages = (patterns: string[], components = '') =>
  new RegExp(
    [
      ...patterns.map((one) => String.raw`node_modules[\\/]${one}[\\/]`),
      ...(components ? [String.raw`@mantine[\\/]core[\\/]esm[\\/]components[\\/](${components})[\\/]`] : []),
    ].join('|'),
  );

/** The hooks of menus and dialogs, and those that only a screen opened later uses, stay with them. */
const menuHooks = 'use-(click-outside|focus-return|focus-trap|long-press|previous|timeout)';
const laterHooks = 'use-(drag|collapse|move|hotkeys|mutation-observer)';
const hooks = String.raw`@mantine[\\/]hooks[\\/]esm[\\/](?!(${menuHooks}|${laterHooks})[\\/])[\w-]+`;

/** What every screen needs, the sign-in screen too, and what every list adds. */
const libraries = packages(
  [
    '(react|react-dom|scheduler|use-sync-external-store)',
    String.raw`@tanstack[\\/](react-router|router-core|history|react-query|query-core|react-store|store)`,
    hooks,
    String.raw`@mantine[\\/]core[\\/]esm[\\/]core`,
    'clsx',
  ],
  'ActionIcon|Alert|Button|Center|CloseButton|Group|Input|InputBase|Loader|Paper|Stack|Text|TextInput|Title|Transition|UnstyledButton',
);
const listParts = packages(
  [String.raw`@mantine[\\/]core[\\/]esm[\\/]utils[\\/](InlineInput|InputsGroupFieldset)`],
  'Anchor|Burger|Checkbox|CopyButton|InlineInput|Kbd|Pagination|Skeleton|Tabs|VisuallyHidden',
);
/** What menus and choices add, and what dialogs and drawers add: each would load in several small files. */
const menuParts = packages(
  [
    '@floating-ui',
    String.raw`@mantine[\\/]core[\\/]esm[\\/]utils[\\/]Floating`,
    String.raw`@mantine[\\/]hooks[\\/]esm[\\/]${menuHooks}`,
  ],
  'Accordion|Combobox|Floating|FocusTrap|Menu|Overlay|Pill|Popover|Portal|Radio|ScrollArea|Select|Tooltip',
);
const dialogParts = packages(
  [
    '(react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar|tslib|get-nonce|aria-hidden)',
  ],
  'Drawer|Modal|ModalBase',
);
/** What every form checks its fields with. */
const schemas =
  /node_modules[\\/]zod[\\/]|[\\/]contract[\\/]((common|messages|route)\.ts|common\.ts\?light)$/;

export default defineConfig({
  root: 'web',
  plugins: [consoleContract, react(), withoutJsonSchema, zodWithoutEval, withoutUnusedParts, precompressed],
  define: {
    LANYARD_VERSION: JSON.stringify(version),
    LANYARD_BUILD: JSON.stringify(build),
    LANYARD_COMMIT: JSON.stringify(commit),
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(servicePaths.map((path) => [path, { target: service }])),
  },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // The strict content security policy has no `data:` for fonts and scripts.
    assetsInlineLimit: 0,
    // every browser that reads es2023 knows modulepreload
    modulePreload: { polyfill: false },
    // the file of the libraries
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // else whichever group comes first takes what others were to share
          includeDependenciesRecursively: false,
          groups: [
            // one file, as every screen needs it: a request more is slower than what a cache would keep
            { name: 'libraries', test: libraries, priority: 1 },
            { name: 'menu-parts', test: menuParts, priority: 1 },
            { name: 'dialog-parts', test: dialogParts, priority: 1 },
            { name: 'schemas', test: schemas, priority: 1 },
            { name: consoleChunks(listParts), debugName: 'console-chunks' },
          ],
        },
      },
    },
  },
});
