import { readFile } from 'node:fs/promises';
import path from 'node:path';

export async function readVersion(): Promise<string> {
  const file = path.join(import.meta.dirname, '../../package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
}
