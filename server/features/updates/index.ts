export { offersToCustomer } from './customer-offers.ts';
export { policySentences } from './explain-policy.ts';
export { candidatesOf, decideOffer, isHeldBack, pinCounts } from './decide-offer.ts';
export { countedVersion } from './counted-version.ts';
export { explainOffers } from './updates.ts';
export { type AppliedPolicy, type Policed, type PolicySource, effectivePolicy, namedTo } from './policy.ts';
