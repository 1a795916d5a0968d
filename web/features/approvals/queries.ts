import { approvals, type ChangeRequest } from '../../../contract/approvals.ts';
import type { Channel } from '../../../contract/versions.ts';
import type { ApiError } from '../../api-error.ts';
import { versionIn } from '../../approval-store.ts';
import { call } from '../../api.ts';
import type { ApprovalsSearch } from './approvals-search.ts';
import { live } from '../../live.ts';
import { queryOf } from '../../query-of.ts';

/** Change requests of the last 7 days, or those that the user may approve now, the newest first. */
export const requestsQuery = ({ waiting }: ApprovalsSearch = {}) =>
  queryOf(approvals.list, { query: { waiting: waiting ? 'true' : undefined } }, live);

/** Which channels require approvals. */
export const channelsQuery = () => queryOf(approvals.channels, {}, live);

const withId = ({ id }: Pick<ChangeRequest, 'id'>) => ({ params: { requestId: id } });

/** Asks a second person for the call that was refused, with the version that the refusal named. */
export function askFor(refused: ApiError): Promise<ChangeRequest> {
  const { call: name, params, body } = refused.made ?? { call: '', params: {}, body: undefined };
  return call(approvals.ask, {
    body: {
      call: name,
      params,
      ...(body === undefined ? {} : { body: body as Record<string, unknown> }),
      seen: versionIn(refused) ?? '',
    },
  });
}

export const approveRequest = (request: ChangeRequest, currentPassword: string) =>
  call(approvals.approve, { ...withId(request), body: { currentPassword } });
export const declineRequest = (request: ChangeRequest, reason: string) =>
  call(approvals.decline, { ...withId(request), body: { reason } });
export const withdrawRequest = (request: ChangeRequest) => call(approvals.withdraw, withId(request));
export const setChannel = (channel: Channel, required: boolean) =>
  call(approvals.setChannel, { params: { channel }, body: { required } });
