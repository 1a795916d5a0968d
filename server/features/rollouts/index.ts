export { stepRollouts } from './steps.ts';
