export { isPlanApproved, refuseAlone, refusePublished, stepNeedsApproval } from './needs-approval.ts';
