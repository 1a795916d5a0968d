export { clearFirstSeen, keepValidations } from './day-counts.ts';
export { type Validator, validate } from './validation.ts';
