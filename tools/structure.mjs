import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { coverageProblems } from './spec-coverage.mjs';
import {
  buttonNamesOf,
  callSchemasOf,
  featureOf,
  formatsOf,
  leftFoldersOf,
  machineHashesOf,
  momentsOf,
  namelessRolesOf,
  ownFoldersOf,
  plainLinksOf,
  rawFieldsOf,
  strayWritesOf,
  uncountedSearchesOf,
  unsavedStateOf,
  violationOf,
  writesOfAllRowsOf,
} from './structure-rules.mjs';

const FOLDERS = ['client/src', 'contract', 'server', 'web', 'tests', 'tools'];
/** The main modules of a package or folder that is entered through them alone. */
const PACKAGES = ['client/src/index.ts', 'contract/index.ts'];
const WARN_LINES = 350;
const MAX_LINES = 450;
const STATEMENT =
  /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /(?:\bimport\(|\bnew URL\()\s*['"](\.[^'"]+)['"]/g;
const RE_EXPORT = /export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"][^'"]+['"];?/g;

function sourceFiles(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourceFiles(root, path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(root, file, text) {
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

// Features that import each other are one feature in two folders.
function cycles(graph) {
  const found = new Map();
  const visit = (feature, path) => {
    const start = path.indexOf(feature);
    if (start >= 0) {
      const cycle = path.slice(start);
      const key = cycle.toSorted().join();
      if (!found.has(key)) found.set(key, [...cycle, feature].join(' → '));
      return;
    }
    for (const next of graph.get(feature) ?? []) visit(next, [...path, feature]);
  };
  for (const feature of [...graph.keys()].toSorted()) visit(feature, []);
  return [...found.values()];
}

const isIndex = (file) => file === `${featureOf(file)?.replace('/', '/features/')}/index.ts`;

/** Checks the checkout at `root`. The output names each violation with its reason. */
export function checkStructure(root) {
  const errors = [];
  const warnings = [];
  const graph = new Map();

  for (const file of FOLDERS.flatMap((folder) => sourceFiles(root, folder))) {
    const text = readFileSync(join(root, file), 'utf8');
    const isTest = /\.(test|testing|e2e)\.tsx?$/.test(file) || file.startsWith('tests/');
    for (const { specifier, target } of importsOf(root, file, text)) {
      const reason = violationOf(file, target, isTest);
      if (reason) errors.push(`${file}: imports ${specifier}: ${reason}`);
      const [from, to] = [featureOf(file), featureOf(target)];
      if (!isTest && from && to && from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
    const ofCode = isTest
      ? []
      : [
          ...namelessRolesOf(file, text),
          ...plainLinksOf(file, text),
          ...uncountedSearchesOf(file, text),
          ...buttonNamesOf(file, text),
          ...strayWritesOf(file, text),
          ...writesOfAllRowsOf(file, text),
          ...formatsOf(file, text),
          ...callSchemasOf(file, text),
          ...ownFoldersOf(file, text),
          ...machineHashesOf(file, text),
        ];
    const ofAll = [rawFieldsOf, unsavedStateOf, momentsOf, leftFoldersOf].flatMap((rule) => rule(file, text));
    for (const reason of [...ofAll, ...ofCode]) errors.push(`${file}: ${reason}`);
    if (isIndex(file) && !isBarrel(file, text))
      errors.push(`${file}: does more than re-export: it only lists the exports for other features`);
    if (/\/index\.tsx?$/.test(file) && !isIndex(file) && !PACKAGES.includes(file) && isBarrel(file, text))
      errors.push(`${file}: only re-exports: import from the file itself`);
    const lines = text.split('\n').length - 1;
    if (!isTest && lines > MAX_LINES)
      errors.push(`${file}: ${lines} lines, more than ${MAX_LINES}: split it by topic`);
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
      errors.push(`docs/decisions/${name}: must begin with number and title, status and date`);

  const coverage = join(root, 'docs/spec-coverage');
  for (const name of existsSync(coverage) ? readdirSync(coverage) : [])
    for (const problem of coverageProblems(root, readFileSync(join(coverage, name), 'utf8')))
      errors.push(`docs/spec-coverage/${name}: ${problem}`);

  for (const cycle of cycles(graph))
    errors.push(`${cycle}: cycle of features: move the shared code to one of them`);

  const lines = [
    ...warnings.map((one) => `warning: ${one}`),
    ...errors.map((one) => `error: ${one}`),
    errors.length === 0 ? 'The structure is valid.' : `${errors.length} violations.`,
  ];
  return { isValid: errors.length === 0, output: `${lines.join('\n')}\n` };
}
