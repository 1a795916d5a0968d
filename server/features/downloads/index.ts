export { verifyFiles } from './stored-file.ts';
