import { approvals as calls } from '../../../contract/approvals.ts';
import { inChange, inChangeAfter, implement, type Implemented } from '../../http/call.ts';
import { refuseCurrentPassword, type Guarded } from '../session/index.ts';
import type { Context } from '../../context.ts';
import { approvableOf, approve, ask, decline, tryOut, withdraw } from './approvals.ts';
import { listChannels, setChannel } from './channels.ts';
import { listRequests } from './open-requests.ts';

/** `others`: the routes of other features, among them those that can be approved. */
export function approvalRoutes(context: Context & Guarded, others: readonly Implemented[]): Implemented[] {
  const { db, config } = context;
  const own = implement(calls, {
    list: ({ by, query }) => listRequests(context, by, query),
    ask: inChangeAfter(
      ({ by, body }) => tryOut(context, approvable, by, body),
      (change, { body }, wanted) => ask(change, config, body, wanted),
    ),
    approve: inChangeAfter(
      ({ by, body }) => refuseCurrentPassword(context, by, body.currentPassword),
      (change, { params }) => approve(change, config, approvable, params.requestId),
    ),
    decline: inChange((change, { params, body }) => decline(change, params.requestId, body.reason)),
    withdraw: inChange((change, { params }) => withdraw(change, params.requestId)),
    channels: () => listChannels(db),
    setChannel: inChange((change, { params, body }) => setChannel(change, params.channel, body.required)),
  });
  const approvable = approvableOf([...others, ...own]);
  return own;
}
