export { SessionList } from './lazy.ts';
export { passwordsProblem } from './password-rules.ts';
