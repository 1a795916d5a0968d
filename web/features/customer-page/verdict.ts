import { dayMs } from '../../../contract/durations.ts';
import type { CustomerOverview } from '../../../contract/customer-page.ts';
import { counted } from '../../ui/counted.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';
import { shortDate, utcDate } from '../../ui/time.ts';

type Verdict = { tone: Extract<Tone, 'teal' | 'amber' | 'red' | 'neutral'>; sentence: string };

const soon = 30 * dayMs;

/** How a customer stands, in one sentence: what keeps machines from running comes first. */
export function verdictOf({ customer, seats, refused }: CustomerOverview, now: Date): Verdict | undefined {
  if (customer.deletedAt)
    return {
      tone: 'red',
      sentence: `Soft-deleted on ${shortDate(customer.deletedAt)}: its machines are refused from their next check until it is restored.`,
    };
  if (!seats) return undefined;
  if (seats.licenses === 0)
    return customer.licenseCount === 0
      ? { tone: 'neutral', sentence: 'It has no license yet.' }
      : {
          tone: 'red',
          sentence: 'None of its licenses is valid: its machines are refused from their next check.',
        };
  if (seats.used >= seats.max)
    return { tone: 'amber', sentence: 'All seats are in use: a further machine is refused.' };
  if (refused && refused.total > 0)
    return {
      tone: 'amber',
      sentence: `${counted(refused.total, 'validation')} ${refused.total === 1 ? 'was' : 'were'} refused in the last 30 days.`,
    };
  if (seats.nextEnd && Date.parse(seats.nextEnd) - now.getTime() < soon)
    return { tone: 'amber', sentence: `A license ends on ${utcDate(seats.nextEnd)}.` };
  return {
    tone: 'teal',
    sentence: `${counted(seats.used, 'seat')} ${seats.used === 1 ? 'is' : 'are'} in use, and no machine was refused in the last 30 days.`,
  };
}
