export { clearFirstSeen, keepValidations } from './day-counts.ts';
export { type Validator, takeSeat, validate } from './validation.ts';
