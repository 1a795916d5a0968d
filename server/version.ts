import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { missingAsUndefined } from './files.ts';
import { build, root } from './root.ts';

/**
 * `version` is that of the code that runs. `checkout` is another one where the checkout was replaced and not built, as
 * under a service that starts what is built.
 */
export async function readVersion(): Promise<{ version: string; checkout: string }> {
  const checkout = await versionIn(path.join(root, 'package.json'));
  if (checkout === undefined) throw new Error('package.json is missing, or names no version');
  return { version: (build && (await versionIn(build))) ?? checkout, checkout };
}

async function versionIn(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(missingAsUndefined);
  return text === undefined ? undefined : (JSON.parse(text) as { version?: string }).version;
}
