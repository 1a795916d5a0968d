export { refuseAlone, refusePublished } from './needs-approval.ts';
