import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './root.ts';

export async function readVersion(): Promise<string> {
  const file = path.join(root, 'package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
}
