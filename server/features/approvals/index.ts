export { isOut, isPlanApproved, refuseAlone, refusePublished, stepNeedsApproval } from './needs-approval.ts';
export { listRequests } from './open-requests.ts';
