export { explainOffers } from './updates.ts';
