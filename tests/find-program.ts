import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/** The path of an installed program, also of those that are not in the PATH of every account. */
export const findProgram = (name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find(existsSync);
