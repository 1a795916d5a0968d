export { type ImpactParts, impactOfTransfer } from './impact.ts';
export { policyOnPage, policyInSentences } from './policy-on-page.ts';
export { type PolicyFinder, createPolicyFinder } from './policy-of-machine.ts';
export { type EffectivePolicy, effectivePolicies } from './policy-set.ts';
export { customersPinnedTo } from './pinned.ts';
