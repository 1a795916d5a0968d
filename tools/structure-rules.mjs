const REASONS = {
  contract: 'contract/ may import only contract/: server and web depend on it, not the reverse',
  rooms: 'server/ and web/ never import each other: move shared code to contract/',
  outside: 'the product may not import tests/ or tools/: they are not part of the build',
  top: 'wrong direction: it is main → app → features → db, http, storage',
  below:
    'only features, jobs and app import features: the direction is main → app → features → db, http, storage',
  level: 'db/ and storage/ may not import http/ or each other',
  door: 'import another feature through its index.ts only (features/<name>/index.ts)',
  main: 'import another feature through its main module only (features/<name>/<name>.ts)',
  ownDoor: 'index.ts is for other features: import from the file itself',
  ui: 'web/ui is independent of the domain: it may import only web/ui',
  webTop: 'wrong direction: it is routes → features → shell, api → ui',
};

/** "server/customers" for a file of that feature; undefined for a file outside features. */
export function featureOf(file) {
  const match = /^(server|web)\/features\/([^/]+)\//.exec(file);
  return match ? `${match[1]}/${match[2]}` : undefined;
}

/**
 * Why `file` may not import `target`, both relative to the root; undefined if it may. `indexed` are the features of the
 * server that have an `index.ts`; in the console all have one.
 */
export function violationOf(file, target, isTest, indexed) {
  const [room, other] = [file.split('/')[0], target.split('/')[0]];
  if (room === 'contract' && !isTest && other !== 'contract') return REASONS.contract;
  if ((room === 'server' && other === 'web') || (room === 'web' && other === 'server')) return REASONS.rooms;
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from && from === to && /\/index\.tsx?$/.test(target)) return REASONS.ownDoor;
  if (isTest) return undefined;
  if (['server', 'web'].includes(room) && ['tests', 'tools'].includes(other)) return REASONS.outside;
  if (room === other && room === 'server') return serverViolation(file, target, indexed);
  if (room === 'web') return webViolation(file, target);
  return undefined;
}

function privateImport(file, target, indexed) {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (!from || !to || from === to) return undefined;
  const name = to.split('/')[1];
  if (to.startsWith('server/') && !indexed.has(to))
    return target.endsWith(`/features/${name}/${name}.ts`) ? undefined : REASONS.main;
  return target.endsWith(`/features/${name}/index.ts`) ? undefined : REASONS.door;
}

// "features", "db", "http", … for a folder; "main.ts", "config.ts", … for a file in the root.
const layerOf = (file) => file.split('/')[1];

function serverViolation(file, target, indexed) {
  const [layer, other] = [layerOf(file), layerOf(target)];
  if (layer === 'main.ts') return undefined;
  if (['main.ts', 'serve.ts'].includes(other)) return REASONS.top;
  // authentication.ts is part of app.ts: it connects the session and API key features to the adapter
  if (['serve.ts', 'open-context.ts', 'app.ts', 'authentication.ts'].includes(layer)) return undefined;
  if (other === 'app.ts') return REASONS.top;
  if (layer === 'jobs') return undefined;
  if (other === 'jobs') return REASONS.top;
  if (layer === 'features') return privateImport(file, target, indexed);
  if (other === 'features') return REASONS.below;
  if (layer !== other && ['db', 'storage'].includes(layer) && ['db', 'http', 'storage'].includes(other))
    return REASONS.level;
  return undefined;
}

function webViolation(file, target) {
  const [layer, other] = [layerOf(file), layerOf(target)];
  if (layer === 'ui') return target.startsWith('web/ui/') ? undefined : REASONS.ui;
  if (!target.startsWith('web/') || /^main\.tsx?$/.test(layer)) return undefined;
  if (/^main\.tsx?$/.test(other)) return REASONS.webTop;
  if (/^routes\.tsx?$/.test(layer)) return undefined;
  if (/^routes\.tsx?$/.test(other)) return REASONS.webTop;
  if (layer === 'features') return privateImport(file, target);
  if (other === 'features') return REASONS.webTop;
  if (other === 'shell' && layer !== 'shell') return REASONS.webTop;
  return undefined;
}

/** Fields of the browser and of Mantine that change typed text, each with its replacement. */
const RAW_FIELDS = [
  [/\btype=\{?["'](?:date|datetime-local|month|time|week)["']/, 'use DayField for a date'],
  [/\btype=\{?["']number["']/, 'use NumberField for a number'],
  [/<Select\b[^>]*\ssearchable\b/, 'use SearchSelect for a searchable choice'],
];

/** The fields in `text` that only web/ui may use, each as the advice what to use instead. */
export function rawFieldsOf(file, text) {
  if (!file.startsWith('web/') || file.startsWith('web/ui/')) return [];
  return RAW_FIELDS.filter(([field]) => field.test(text)).map(([, instead]) => `${instead} (web/ui)`);
}

/**
 * State in `text` that would be lost when the session expires in a dialog (the open dialog, the values of its fields),
 * each as the advice what to use instead.
 */
export function unsavedStateOf(file, text) {
  if (!/^web\/.*\.tsx$/.test(file) || file.startsWith('web/ui/')) return [];
  const states = [...text.matchAll(/const \[(\w+)[^\]]*\] = useState\b/g)].map((match) => match[1]);
  const dialogs = [...text.matchAll(/<LazyDialogs>.*?<\/LazyDialogs>/gs)].join('\n');
  const usesDialog = /ui\/(?:Dialog|ConfirmDialog|LazyDialogs)\.tsx'/.test(text);
  return states.flatMap((name) => [
    ...(new RegExp(`\\{${name}\\b`).test(dialogs)
      ? [`${name}: open a dialog with useKept, so that it opens again after signing in (web/kept-work.ts)`]
      : []),
    ...(usesDialog &&
    new RegExp(`<(?!Copy)\\w[^<]*\\b(?:value|checked|chosen|cells)=\\{${name}\\b`).test(text)
      ? [`${name}: keep entered values with useDialogForm or useEntered (web/dialog-form.ts)`]
      : []),
  ]);
}
