import path from 'node:path';

/** The path of a file that a command names, from the folder in which npm was called: npm changes to its package. */
export const fromCaller = (file: string): string => path.resolve(process.env.INIT_CWD ?? '.', file);
