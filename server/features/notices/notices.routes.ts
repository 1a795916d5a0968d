import { notices as calls } from '../../../contract/notices.ts';
import { implement } from '../../http/call.ts';
import { listNotices, type NoticesParts } from './notices.ts';

export const noticeRoutes = (parts: NoticesParts) =>
  implement(calls, { list: ({ by }) => listNotices(parts, by) });
