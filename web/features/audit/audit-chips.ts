import { labelOf } from '../../../contract/text.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import { momentText, utcDate } from '../../ui/time.ts';
import type { AuditSearch } from './audit-search.ts';
import { eventWord } from './audit-words.ts';

/** The filters that are set. `users`: names of those that entries have, by id. */
export function auditChips(search: AuditSearch, users: ReadonlyMap<string, string> = new Map()) {
  const { userId, resourceType, resourceId, eventType, status, from, to, since } = search;
  return chipsOf({
    userId: userId && `User: ${users.get(userId) ?? userId}`,
    resourceType: resourceType && `Resource type: ${labelOf(resourceType)}`,
    resourceId: resourceId && `Resource ID: ${resourceId}`,
    eventType: eventType && `Event type: ${eventWord(eventType)}`,
    status: status && `Status: ${status}`,
    from: from && `From: ${utcDate(from)}`,
    to: to && `To: ${utcDate(to)}`,
    // a first day replaces it
    since: from ? undefined : since && `Since ${momentText(since)}`,
  });
}
