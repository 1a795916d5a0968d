// Checks the direction of imports and the other rules of structure-rules.mjs.
// `node tools/check-structure.mjs [root]` prints each violation with its reason, and exits with 1 if there is one.
import { resolve } from 'node:path';
import { root } from './process.mjs';
import { checkStructure } from './structure.mjs';

const { isValid, output } = checkStructure(resolve(process.argv[2] ?? root));
process.stdout.write(output);
process.exitCode = isValid ? 0 : 1;
