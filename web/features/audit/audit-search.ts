import { getRouteApi } from '@tanstack/react-router';
import { cursorText } from '../../../contract/audit-cursor.ts';
import { instantText, isDay } from '../../ui/day.ts';
import {
  idParam,
  pageParam,
  recordParam,
  searchOf,
  textParam,
  wholeParam,
  wordParam,
} from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

export const auditSizes = [10, 20, 50, 100] as const;
export const defaultSize = 20;
const outcomes = ['success', 'failed'] as const;

/** Search parameters of the audit log: its filters, its page, and the open entry. */
export const auditSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  /** Id of a user. */
  userId: idParam(params, 'userId'),
  resourceType: textParam(params, 'resourceType', 50),
  resourceId: textParam(params, 'resourceId'),
  eventType: textParam(params, 'eventType', 100),
  /** Only successes, or only failures. */
  status: wordParam(params, 'status', outcomes),
  /** Days as `2026-11-20`, in the time zone of the user, both included. */
  from: dayParam(params, 'from'),
  to: dayParam(params, 'to'),
  /** The exact time from which on entries are shown. */
  since: instantParam(params, 'since'),
  page: pageParam(params),
  size: sizeParam(params),
  /** The cursor of this page, so that new entries do not shift it. */
  after: cursorParam(params),
  /** How many entries the pages before this one have, where a search was answered in parts. */
  shown: cursorParam(params) ? wholeParam(params, 'shown', 0, 1e9) : undefined,
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  /** Id of the entry whose details are open. */
  entry: recordParam(params, 'entry'),
}));
export type AuditSearch = ReturnType<typeof auditSearch>;

/** How many entries the pages before this one have. */
export const shownBefore = ({ page = 1, size = defaultSize, shown }: AuditSearch): number =>
  shown ?? (page - 1) * size;

const route = getRouteApi('/signed-in/audit');
export const useAuditSearch = () =>
  useSearch<AuditSearch>(route, {
    dialogs: ['entry'],
    typed: ['search', 'resourceId', 'from', 'to'],
  });

function sizeParam(params: Record<string, unknown>): number | undefined {
  return auditSizes.find((size) => size !== defaultSize && size === Number(params['size']));
}

function instantParam(params: Record<string, unknown>, name: string): string | undefined {
  const text = textParam(params, name);
  const at = text && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : instantText(new Date(at));
}

function cursorParam(params: Record<string, unknown>): string | undefined {
  const text = textParam(params, 'after');
  return text && cursorText.test(text) ? text : undefined;
}

function dayParam(params: Record<string, unknown>, name: string): string | undefined {
  const text = textParam(params, name);
  return text && isDay(text) ? text : undefined;
}

/** What a saved view of the log holds. */
export const auditView = {
  names: ['search', 'userId', 'resourceType', 'resourceId', 'eventType', 'status', 'from', 'to', 'since'],
  read: auditSearch,
};
