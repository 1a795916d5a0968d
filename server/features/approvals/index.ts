export { isOut, isPlanApproved, refuseAlone, refusePublished, stepNeedsApproval } from './needs-approval.ts';
export { endRequestsAhead, listRequests } from './open-requests.ts';
