import type { UpdatePolicy } from '../../../contract/policies.ts';
import { capitalize } from '../../../contract/text.ts';
import { counted } from '../../ui/counted.ts';
import { windowText } from '../../window-text.ts';
import { shownDay } from '../../ui/typed-day.ts';

/** What a policy decides, in words; empty if it decides nothing. */
export function policyText(policy: UpdatePolicy): string {
  const { channel, pin, pinForSecurity, deferDays, windows, updatesUntil } = policy;
  const parts = [
    channel && `channel ${channel}`,
    pin && `pinned to ${pin}${pinForSecurity ? ', also for security updates' : ''}`,
    deferDays !== null && (deferDays === 0 ? 'not deferred' : `deferred by ${counted(deferDays, 'day')}`),
    windows !== null &&
      (windows.length === 0 ? 'at any time' : `only ${windows.map(windowText).join(' or ')}`),
    updatesUntil && `until ${shownDay(updatesUntil)}`,
  ].filter((part) => typeof part === 'string' && part !== '');
  return capitalize(parts.join('; '));
}
