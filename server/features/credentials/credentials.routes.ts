import { credentials as calls } from '../../../contract/credentials.ts';
import { inChange, implement } from '../../http/call.ts';
import { endEnrollment } from './end.ts';
import { enroll, type Enrolling } from './enroll.ts';

export const credentialRoutes = (enrolling: Enrolling) =>
  implement(calls, {
    enroll: ({ by, body }) => enroll(enrolling, by, body),
    end: inChange((change, { params }) => endEnrollment(change, params.activationId)),
  });
