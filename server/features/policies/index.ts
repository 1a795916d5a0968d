export { type PolicyFinder, createPolicyFinder } from './policy-of-machine.ts';
