// `npm run db:new NAME` creates the next, empty migration.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './process.mjs';

const name = process.argv
  .slice(2)
  .join('_')
  .toLowerCase()
  .replace(/[^a-z0-9]+/g, '_')
  .replace(/^_|_$/g, '');
if (!name) {
  console.error('Usage: npm run db:new NAME, for example npm run db:new add_customer_notes');
  process.exit(1);
}

const folder = join(root, 'server', 'db', 'migrations');
mkdirSync(folder, { recursive: true });
const last = Math.max(0, ...readdirSync(folder).map((file) => Number.parseInt(file, 10) || 0));
const file = join(folder, `${String(last + 1).padStart(4, '0')}_${name}.sql`);
writeFileSync(file, `-- ${name.replaceAll('_', ' ')}\n`, { flag: 'wx' });
console.log(relative(root, file));
