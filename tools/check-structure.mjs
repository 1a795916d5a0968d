// Holds the direction of imports, so that each feature stays one room with few doors.
// `node tools/check-structure.mjs [root]` prints each breach with its reason and fails if there is one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { breachOf, featureOf, forgetfulOf, rawFieldsOf } from './structure-rules.mjs';

const FOLDERS = ['contract', 'server', 'web', 'tests', 'tools'];
const WARN_LINES = 350;
const MAX_LINES = 450;
const STATEMENT =
  /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /(?:\bimport\(|\bnew URL\()\s*['"](\.[^'"]+)['"]/g;
const RE_EXPORT = /export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"][^'"]+['"];?/g;

const root = resolve(process.argv[2] ?? dirname(import.meta.dirname));

function sourceFiles(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourceFiles(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(file, text) {
  const found = [...text.matchAll(STATEMENT), ...text.matchAll(DYNAMIC)].map((match) => match[1] ?? match[2]);
  const relatives = found.filter((specifier) => specifier.startsWith('.'));
  return relatives.map((specifier) => {
    const target = relative(root, resolve(root, dirname(file), specifier.replace(/\?.*$/, '')));
    return { specifier, target: target.split(sep).join('/') };
  });
}

function isBarrel(file, text) {
  const rest = text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '').replace(RE_EXPORT, '');
  return rest.trim() === '' && text.trim() !== '';
}

// Features that call each other in a circle are one feature in two folders.
function circles(graph) {
  const found = new Map();
  const visit = (feature, path) => {
    const start = path.indexOf(feature);
    if (start >= 0) {
      const circle = path.slice(start);
      const key = circle.toSorted().join();
      if (!found.has(key)) found.set(key, [...circle, feature].join(' → '));
      return;
    }
    for (const next of graph.get(feature) ?? []) visit(next, [...path, feature]);
  };
  for (const feature of [...graph.keys()].toSorted()) visit(feature, []);
  return [...found.values()];
}

const errors = [];
const warnings = [];
const graph = new Map();
const files = FOLDERS.flatMap(sourceFiles);
const isDoor = (file) => file === `${featureOf(file)?.replace('/', '/features/')}/index.ts`;
const doors = new Set(files.filter(isDoor).map(featureOf));

for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8');
  const isTest = /\.(test|testing|e2e)\.tsx?$/.test(file) || file.startsWith('tests/');
  for (const { specifier, target } of importsOf(file, text)) {
    const reason = breachOf(file, target, isTest, doors);
    if (reason) errors.push(`${file}: imports ${specifier}: ${reason}`);
    const [from, to] = [featureOf(file), featureOf(target)];
    if (!isTest && from && to && from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  for (const reason of [...rawFieldsOf(file, text), ...forgetfulOf(file, text)])
    errors.push(`${file}: ${reason}`);
  if (isDoor(file) && !isBarrel(file, text))
    errors.push(`${file}: does more than re-export: a door names what other features use`);
  if (/\/index\.tsx?$/.test(file) && !isDoor(file) && file !== 'contract/index.ts' && isBarrel(file, text))
    errors.push(`${file}: only re-exports: import from the file itself, so that a search finds it`);
  const lines = text.split('\n').length - 1;
  if (!isTest && lines > MAX_LINES)
    errors.push(`${file}: ${lines} lines, more than ${MAX_LINES}: split it by subject`);
  else if (!isTest && lines > WARN_LINES)
    warnings.push(`${file}: ${lines} lines, near the limit of ${MAX_LINES}`);
}
const decisions = join(root, 'docs/decisions');
for (const name of existsSync(decisions) ? readdirSync(decisions) : [])
  if (
    !/^# \d+\. .+\n\n(Accepted|Replaced by \[\d+\]\(.+\)), \d{4}-\d\d-\d\d\.\n/.test(
      readFileSync(join(decisions, name), 'utf8'),
    )
  )
    errors.push(`docs/decisions/${name}: begins with its number and title, its status and its date`);

for (const circle of circles(graph))
  errors.push(`${circle}: features in a circle: move what they share to one of them`);

for (const line of warnings) console.log(`warning: ${line}`);
for (const line of errors) console.log(`error: ${line}`);
console.log(errors.length === 0 ? 'The structure holds.' : `${errors.length} breaches of the structure.`);
process.exitCode = errors.length === 0 ? 0 : 1;
