const REASONS = {
  client:
    'client/ is a package of its own that programs install: it imports only client/, and nothing imports it',
  contract: 'contract/ may import only contract/: server and web depend on it, not the reverse',
  rooms: 'server/ and web/ never import each other: move shared code to contract/',
  outside: 'the product may not import tests/ or tools/: they are not part of the build',
  top: 'wrong direction: it is main → app → features → db, http, storage',
  below:
    'only features, jobs and app import features: the direction is main → app → features → db, http, storage',
  level: 'db/ and storage/ may not import http/ or each other',
  door: 'import another feature through its index.ts only (features/<name>/index.ts)',
  ownDoor: 'index.ts is for other features: import from the file itself',
  ui: 'web/ui is independent of the domain: it may import only web/ui',
  harness:
    'it loads the whole service: browser tests take api-client.ts, test-database.ts and time.ts of tests/',
  webTop: 'wrong direction: it is routes → features → shell, api → ui',
};

/** "server/customers" for a file of that feature; undefined for a file outside features. */
export function featureOf(file) {
  const match = /^(server|web)\/features\/([^/]+)\//.exec(file);
  return match ? `${match[1]}/${match[2]}` : undefined;
}

/** Why `file` may not import `target`, both relative to the root; undefined if it may. */
export function violationOf(file, target, isTest) {
  const [room, other] = [file.split('/')[0], target.split('/')[0]];
  if (room === 'contract' && !isTest && other !== 'contract') return REASONS.contract;
  if ((room === 'server' && other === 'web') || (room === 'web' && other === 'server')) return REASONS.rooms;
  if (!isTest && (room === 'client') !== (other === 'client')) return REASONS.client;
  if (file.startsWith('tests/e2e/') && target === 'tests/harness.ts') return REASONS.harness;
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from && from === to && /\/index\.tsx?$/.test(target)) return REASONS.ownDoor;
  if (isTest) return undefined;
  if (['server', 'web'].includes(room) && ['tests', 'tools'].includes(other)) return REASONS.outside;
  if (room === other && room === 'server') return serverViolation(file, target);
  if (room === 'web') return webViolation(file, target);
  return undefined;
}

function privateImport(file, target) {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (!from || !to || from === to) return undefined;
  return target === `${to.replace('/', '/features/')}/index.ts` ? undefined : REASONS.door;
}

// "features", "db", "http", … for a folder; "main.ts", "config.ts", … for a file in the root.
const layerOf = (file) => file.split('/')[1];

function serverViolation(file, target) {
  const [layer, other] = [layerOf(file), layerOf(target)];
  if (layer === 'main.ts') return undefined;
  if (['main.ts', 'serve.ts'].includes(other)) return REASONS.top;
  // authentication.ts is part of app.ts: it connects the session and API key features to the adapter
  if (['serve.ts', 'open-context.ts', 'app.ts', 'authentication.ts'].includes(layer)) return undefined;
  if (other === 'app.ts') return REASONS.top;
  if (layer === 'jobs') return undefined;
  if (other === 'jobs') return REASONS.top;
  if (layer === 'features') return privateImport(file, target);
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
  const isTop = (one) => /^(routes|SignedIn)\.tsx$/.test(one);
  if (isTop(layer)) return undefined;
  if (isTop(other)) return REASONS.webTop;
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
 * The schemas of calls that `text` reads, each as the advice what to use instead: the built console has of a call only
 * the `consoleFields` of contract/route.ts (tools/console-contract.ts).
 */
export function callSchemasOf(file, text) {
  if (!file.startsWith('web/')) return [];
  const calls = [...text.matchAll(/^import (?!type\b)\{([^}]*)\} from '[./]+contract\/[^']+'/gm)]
    .flatMap(([, names]) => names.split(','))
    .map((name) => name.trim().split(' ').at(-1));
  return [...text.matchAll(/(?<!typeof )\b(\w+)\.\w+\.(?:body|query|params|answer|meta)\b/g)]
    .filter(([, name]) => calls.includes(name))
    .map(([found]) => `${found} is undefined in the built console: import the schema by its name`);
}

/** Where `text` relies on the folder of its file, which is another one in the bundled server. */
export function ownFoldersOf(file, text) {
  const isBundled = /^(server|tools)\/(?!console-|torture\/|root\.ts$)/.test(file);
  if (!isBundled) return [];
  return [...text.matchAll(/import\.meta\.(?:dirname|filename)/g)].map(
    ([found]) => `${found} is another folder in the build: use server/root.ts`,
  );
}

const FORMATTERS = ['locale', 'numbers', 'time'].map((name) => `web/ui/${name}.ts`);
const FORMAT =
  /\bIntl\.(?!Locale\b)\w+|\.(?:toLocale\w*String|localeCompare|toFixed|to(?:Date|Time)String)\(/g;

/** What in `text` formats dates, numbers or an order by itself, each as the advice what to use instead. */
export function formatsOf(file, text) {
  if (!file.startsWith('web/') || FORMATTERS.includes(file)) return [];
  return [...text.matchAll(FORMAT)].map(
    ([found]) =>
      `${found.replace(/[.(]$/, '')} does not follow the reader: use numbers.ts, time.ts or locale.ts of web/ui`,
  );
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

/** What a browser test asks of one moment, which may come too early or too late, each as the advice what to use instead. */
export function momentsOf(file, text) {
  if (!file.startsWith('tests/e2e/')) return [];
  const asked = text.matchAll(
    /\bexpect\(\s*await [^;>]*?\.(count|textContent|all\w+s|inner\w+|inputValue|getAttribute|is[A-Z]\w+)\(/g,
  );
  return [
    ...[...asked].map(([, name]) => `${name}: use the assertion of the locator, which waits, or expect.poll`),
    ...[...text.matchAll(/\bawait \w+\.(waitFor(?:Response|Request|Event))\(/g)].map(
      ([, name]) => `${name}: begin to wait before the action that causes it, and await that afterwards`,
    ),
  ];
}

/** Folders that a test creates beside `newFolder`, which removes them whatever happens. */
export function leftFoldersOf(file, text) {
  if (!file.endsWith('.test.ts')) return [];
  return [...text.matchAll(/\bmkdtemp(?:Sync)?\(/g)].map(
    () => 'mkdtemp: newFolder() of tests/place.ts is removed after the test file',
  );
}

const WRITES =
  /\b(?:insert\s+into|update\s+[\w$"]|delete\s+from|merge\s+into|truncate|(?:create|alter|drop|lock)\s+table)\b/i;

/** The templates of `sql` in `text` that are executed, each with what executes it; what they hold in `${}` included. */
function executedSql(text) {
  return [...text.matchAll(/\bsql(?:<[^`;]*>)?`/g)].flatMap(({ index, 0: start }) => {
    const end = endOfTemplate(text, index + start.length);
    const by = /^\s*\.execute\(\s*([\w.]+)/.exec(text.slice(end))?.[1];
    return by ? [{ by, statement: text.slice(index, end) }] : [];
  });
}

/** Where the template ends that begins before `at`, behind its backtick. */
function endOfTemplate(text, at) {
  for (let i = at, depth = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text.startsWith('${', i)) depth++;
    else if (depth > 0 && text[i] === '}') depth--;
    else if (text[i] === '`') {
      if (depth === 0) return i + 1;
      i = endOfTemplate(text, i + 1) - 1;
    }
  }
  return text.length;
}

/** Which statements in `text` write by something else than the `tx` of a change, each as what to do. */
export function strayWritesOf(file, text) {
  if (!file.startsWith('server/')) return [];
  return executedSql(text)
    .filter(({ by, statement }) => WRITES.test(statement) && !/^(?:change\.)?tx$/.test(by))
    .map(
      ({ by }) => `sql that writes is executed by ${by}: only the tx of a change writes (server/change.ts)`,
    );
}

const ONE_ROW = /^'(?:audit_settings|newest_moment)'/;

/** Updates and deletions in `text` that name no rows, each as what to do; of tables with one row they may. */
export function writesOfAllRowsOf(file, text) {
  if (!file.startsWith('server/')) return [];
  const chains = text.split(/\.(?:updateTable|deleteFrom)\(/).slice(1);
  return chains
    .map((rest) => rest.split(/\.execute|;\n/, 1)[0])
    .filter((chain) => !ONE_ROW.test(chain) && !/\.where(?:Ref)?\(/.test(chain))
    .map((chain) => `${/^[^)]*/.exec(chain)[0]}: a write of all rows: name them with where`);
}

/** A name on an element without a role is not announced, and axe sees it only while the element is there. */
export function namelessRolesOf(file, text) {
  if (!file.startsWith('web/')) return [];
  const named = text.matchAll(/<(?:Skeleton|Stack|Group|Box|Center|div|span)\b[^>]*?\saria-label=[^>]*>/g);
  return [...named]
    .filter(([tag]) => !/\s(?:role|component)=/.test(tag))
    .map(([tag]) => `${tag.replaceAll(/\s+/g, ' ')}: has a name, and no role`);
}

/** The record of a machine is not always that of its machine id: who hashes that itself forgets the other one. */
export function machineHashesOf(file, text) {
  if (!file.startsWith('server/') || file === 'server/db/sql.ts') return [];
  return [...text.matchAll(/\bmachine_hash\(/g)].map(
    () => 'machine_hash(): use recordHash, activationsWithHash or idHash (server/db/sql.ts)',
  );
}

/** The frame in web/shell leads only to screens that its reader may see. */
export function plainLinksOf(file, text) {
  if (!/^web\/(?:features|ui)\//.test(file) || file === 'web/ui/ScreenLink.tsx') return [];
  return [...text.matchAll(/^import \{[^}]*\bLink\b[^}]*\} from '@tanstack\/react-router'/gm)].map(
    () => 'Link: use ScreenLink or ScreenButton (web/ui), which ask for the rights that the screen needs',
  );
}

/** The rows change below the field: without their number, a screen reader says nothing of it. */
export function uncountedSearchesOf(file, text) {
  if (!file.startsWith('web/')) return [];
  return /<ListSearch\b/.test(text) && !/<(?:ListPages|ListCount|AuditPages)\b/.test(text)
    ? ['ListSearch: nothing announces how many results there are: use ListPages or ListCount']
    : [];
}

const BUTTON_NAMES = [
  /<(?:Create|Row)?Button\b(?:[^<>]|=>|<\w[^<>]*\/>)*>\s*([A-Z][^<{}]*?)\s*[<{]/g,
  /\b(?:confirm|submit|cancel|retry)Label=\{?["'`]([A-Z][^"'`$]*)/g,
];
const CHOSEN_NAME = /<(?:Create|Row)?Button\b(?:[^<>]|=>|<\w[^<>]*\/>)*>\s*\{([^<>{}]*)\}\s*<\/\w*Button>/g;
const LOWER_CASE = /^(?:a|an|and|as|by|for|in|of|on|or|the|to)$/;

/** Names of buttons in `text` that are not in title case; "Reload page" is so in the specification. */
export function buttonNamesOf(file, text) {
  if (!/^web\/.*\.tsx$/.test(file)) return [];
  const chosen = [...text.matchAll(CHOSEN_NAME)].flatMap(([, names]) => [
    ...names.matchAll(/'([A-Z][^']*)'/g),
  ]);
  return [...BUTTON_NAMES.flatMap((names) => [...text.matchAll(names)]), ...chosen]
    .map(([, name]) => name.replaceAll(/\s+/g, ' '))
    .filter((name) => name !== 'Reload page')
    .filter((name) => name.split(' ').some((word) => /^[a-z]/.test(word) && !LOWER_CASE.test(word)))
    .map((name) => `${name}: the name of a button is in title case`);
}
