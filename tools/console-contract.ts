import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { consoleFields } from '../contract/route.ts';

const folder = join(import.meta.dirname, '../contract');
const light = '?light';
let built = '';

/**
 * Gives the console of the contract what screens need: of each call the `consoleFields`, and of the rest what is data.
 * Functions and schemas come from the file itself, so that schemas and zod load with the first form. It reads the built
 * contract, so the server is built first.
 */
export const consoleContract: Plugin = {
  name: 'console-contract',
  apply: 'build',
  enforce: 'pre',
  configResolved: ({ root, build }) => {
    built = resolve(root, build.outDir, '../contract');
  },
  resolveId(source, importer = '') {
    if (importer.endsWith(light)) return { id: source, moduleSideEffects: false };
    const file = join(dirname(importer), source);
    if (!source.startsWith('.') || dirname(file) !== folder) return null;
    const code = readFileSync(file, 'utf8');
    return /from 'zod'/.test(code) && /^export /m.test(code) ? `${file}${light}` : null;
  },
  async load(id) {
    if (!id.endsWith(light)) return null;
    const file = id.slice(0, -light.length);
    const exports = (await import(join(built, `${basename(file, '.ts')}.js`))) as Record<string, unknown>;
    const lines = Object.entries(exports).map(([name, value]) => {
      const data = isCalls(value) ? withoutSchemas(value) : value;
      return isData(data)
        ? `export const ${name} = ${JSON.stringify(data)};`
        : `export { ${name} } from ${JSON.stringify(file)};`;
    });
    return { code: lines.join('\n'), moduleSideEffects: false };
  },
};

type Calls = Record<string, Record<string, unknown>>;

const isCalls = (value: unknown): value is Calls =>
  isObject(value) &&
  Object.values(value).every((call) => isObject(call) && 'method' in call && 'access' in call);

const withoutSchemas = (calls: Calls) =>
  Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      Object.fromEntries(
        consoleFields
          .filter((field) => call[field] !== undefined)
          .map((field) => [field, isData(call[field]) ? call[field] : true]),
      ),
    ]),
  );

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isData = (value: unknown): boolean =>
  Array.isArray(value) || isObject(value)
    ? Object.values(value).every(isData)
    : value === null || ['string', 'number', 'boolean'].includes(typeof value);
