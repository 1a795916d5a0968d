const WHY = {
  contract: 'contract/ may import only contract/: both sides stand on it, so it stands on neither',
  rooms: 'server/ and web/ never import each other: what both need belongs into contract/',
  outside: 'the product may not import tests/ or tools/: they are not part of it',
  top: 'only the entry above may import this: the direction is main → app → features → db, http, storage',
  below: 'features stand above this file: the direction is main → app → features → db, http, storage',
  level: 'db/ and storage/ know nothing of http/, and they nothing of each other',
  door: "another feature is entered by its door only (features/<name>/index.ts): the rest is that feature's own",
  main: "another feature is entered by its main module only (features/<name>/<name>.ts): the rest is that feature's own",
  ownDoor: 'the door is for other features: import from the file itself',
  ui: 'web/ui has parts without a domain word: it may import only web/ui',
  webTop: 'the direction is routes → features → shell, api → ui: what is below never imports what is above',
};

/** "server/customers" for a file of that feature; undefined for a file of none. */
export function featureOf(file) {
  const match = /^(server|web)\/features\/([^/]+)\//.exec(file);
  return match ? `${match[1]}/${match[2]}` : undefined;
}

/**
 * Why `file` may not import `target`, both relative to the root; undefined where it may. `doors` are the features of the
 * server that have an `index.ts`; in the console all have one.
 */
export function breachOf(file, target, isTest, doors) {
  const [room, other] = [file.split('/')[0], target.split('/')[0]];
  if (room === 'contract' && !isTest && other !== 'contract') return WHY.contract;
  if ((room === 'server' && other === 'web') || (room === 'web' && other === 'server')) return WHY.rooms;
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from && from === to && /\/index\.tsx?$/.test(target)) return WHY.ownDoor;
  if (isTest) return undefined;
  if (['server', 'web'].includes(room) && ['tests', 'tools'].includes(other)) return WHY.outside;
  if (room === other && room === 'server') return serverBreach(file, target, doors);
  if (room === 'web') return webBreach(file, target);
  return undefined;
}

function pastDoor(file, target, doors) {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (!from || !to || from === to) return undefined;
  const name = to.split('/')[1];
  if (to.startsWith('server/') && !doors.has(to))
    return target.endsWith(`/features/${name}/${name}.ts`) ? undefined : WHY.main;
  return target.endsWith(`/features/${name}/index.ts`) ? undefined : WHY.door;
}

// "features", "db", "http", … for a folder; "main.ts", "config.ts", … for a file beside them.
const layerOf = (file) => file.split('/')[1];

function serverBreach(file, target, doors) {
  const [layer, other] = [layerOf(file), layerOf(target)];
  if (layer === 'main.ts') return undefined;
  if (['main.ts', 'serve.ts'].includes(other)) return WHY.top;
  // authentication.ts is a part of app.ts: it ties the session and API key features to the adapter
  if (['serve.ts', 'open-context.ts', 'app.ts', 'authentication.ts'].includes(layer)) return undefined;
  if (other === 'app.ts') return WHY.top;
  if (layer === 'jobs') return undefined;
  if (other === 'jobs') return WHY.top;
  if (layer === 'features') return pastDoor(file, target, doors);
  if (other === 'features') return WHY.below;
  if (layer !== other && ['db', 'storage'].includes(layer) && ['db', 'http', 'storage'].includes(other))
    return WHY.level;
  return undefined;
}

function webBreach(file, target) {
  const [layer, other] = [layerOf(file), layerOf(target)];
  if (layer === 'ui') return target.startsWith('web/ui/') ? undefined : WHY.ui;
  if (!target.startsWith('web/') || /^main\.tsx?$/.test(layer)) return undefined;
  if (/^main\.tsx?$/.test(other)) return WHY.webTop;
  if (/^routes\.tsx?$/.test(layer)) return undefined;
  if (/^routes\.tsx?$/.test(other)) return WHY.webTop;
  if (layer === 'features') return pastDoor(file, target);
  if (other === 'features') return WHY.webTop;
  if (other === 'shell' && layer !== 'shell') return WHY.webTop;
  return undefined;
}

/** Fields of the browser and of the library that change what a person typed, and what stands in for them. */
const RAW_FIELDS = [
  [/\btype=\{?["'](?:date|datetime-local|month|time|week)["']/, 'a date is typed into DayField'],
  [/\btype=\{?["']number["']/, 'a number is typed into NumberField'],
  [/<Select\b[^>]*\ssearchable\b/, 'a choice that is found by typing is a SearchSelect'],
];

/** Which fields in `text` belong to web/ui, each as what to use instead; none for files of web/ui and others. */
export function rawFieldsOf(file, text) {
  if (!file.startsWith('web/') || file.startsWith('web/ui/')) return [];
  return RAW_FIELDS.filter(([field]) => field.test(text)).map(([, instead]) => `${instead} (web/ui)`);
}

/**
 * What in `text` would be forgotten when the session ends in a dialog, each as what to use instead: which dialog is
 * open, and what a field of it holds.
 */
export function forgetfulOf(file, text) {
  if (!/^web\/.*\.tsx$/.test(file) || file.startsWith('web/ui/')) return [];
  const states = [...text.matchAll(/const \[(\w+)[^\]]*\] = useState\b/g)].map((match) => match[1]);
  const dialogs = [...text.matchAll(/<LazyDialogs>.*?<\/LazyDialogs>/gs)].join('\n');
  const usesDialog = /ui\/(?:Dialog|ConfirmDialog|LazyDialogs)\.tsx'/.test(text);
  return states.flatMap((name) => [
    ...(new RegExp(`\\{${name}\\b`).test(dialogs)
      ? [`${name}: a dialog is opened by useKept, so that it opens again after signing in (web/kept-work.ts)`]
      : []),
    ...(usesDialog &&
    new RegExp(`<(?!Copy)\\w[^<]*\\b(?:value|checked|chosen|cells)=\\{${name}\\b`).test(text)
      ? [
          `${name}: what a person enters is in useDialogForm or useEntered, which keep it (web/dialog-form.ts)`,
        ]
      : []),
  ]);
}
