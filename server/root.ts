import { existsSync } from 'node:fs';
import path from 'node:path';

/** This is a file of `server/` in the sources, and part of a file in `dist/server/` or `dist/tools/` in a build. */
const isBuilt = !existsSync(path.join(import.meta.dirname, '../package.json'));

/** The folder of Lanyard, with `package.json` and the build in `dist/`. */
export const root = path.join(import.meta.dirname, isBuilt ? '../..' : '..');

/** What a build says of itself; undefined in the sources. */
export const build = isBuilt ? path.join(root, 'dist/build.json') : undefined;

/** The folder of the SQL files that make the schema. */
export const migrations = path.join(root, isBuilt ? 'dist' : '', 'server/db/migrations');
