export { CustomerPolicyModal, TagPolicyModal } from './lazy.ts';
