import { weekdays, type MaintenanceWindow } from '../../../contract/policies.ts';
import { present } from '../../invariants.ts';
import {
  deferredUntil,
  type Policed,
  type PolicedRelease,
  type PolicySource,
  type PolicyStep,
} from './policy.ts';

/** `the policy of Hospital A`, `the policy of the tag slow`. */
const policyOf = ({ kind, name }: PolicySource) => `the policy of ${kind === 'tag' ? 'the tag ' : ''}${name}`;

/** `2026-11-20 09:30 UTC` */
export const momentText = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const capital = (day: string) => day.slice(0, 1).toUpperCase() + day.slice(1);

/** `Mon, Tue 22:00 to 05:00 (Europe/Berlin)` */
function windowText({ weekdays: days, from, to, zone }: MaintenanceWindow): string {
  const named = weekdays.filter((day) => days.includes(day));
  const shown = named.length === weekdays.length ? 'every day' : named.map(capital).join(', ');
  return `${shown} ${from} to ${to} (${zone})`;
}

/** The channel that a policy gives the machine, if any. */
export const channelSentence = ({ policy }: Policed): string[] =>
  policy.channel ? [`${capital(policyOf(policy.channel.from))} puts it on ${policy.channel.value}.`] : [];

/** What the policy looked at for one release, as a sentence with its numbers. */
export function policySentence(
  { reason, result }: PolicyStep,
  release: PolicedRelease,
  { policy, now }: Policed,
): string {
  const urgent = urgency(release);
  switch (reason) {
    case 'LICENSE_INACTIVE':
      return 'The license of the machine is revoked or its customer is not active, and such machines get no updates.';
    case 'PINNED': {
      const { value, from, forSecurity } = present(policy.pin, 'the step says that there is one');
      const said = `${capital(policyOf(from))} pins it to ${value}`;
      if (result === 'unmatched')
        return `${said}, which matches no published release, so the pin does not count.`;
      if (result === 'passes') return `${said}, which this release matches.`;
      if (result === 'urgent') return `${said}, but ${urgent}.`;
      return `${said}${forSecurity ? ', also for security updates' : ''}; this release is outside.`;
    }
    case 'UPDATES_ENDED': {
      const { value, from } = present(policy.updatesUntil, 'the step says that there is one');
      const said = `${capital(policyOf(from))} gives it updates until ${value}`;
      return result === 'urgent' ? `${said}, but ${urgent}.` : `${said}.`;
    }
    case 'DEFERRED': {
      const { value, from } = present(policy.deferDays, 'the step says that there is one');
      const until = deferredUntil(release, value);
      const said = `${capital(policyOf(from))} defers releases by ${value} ${value === 1 ? 'day' : 'days'} after they are fully out`;
      const due = until === undefined ? 'this one is not' : `this one until ${momentText(until)}`;
      return result === 'urgent' ? `${said}, but ${urgent}.` : `${said}: ${due}.`;
    }
    case 'OUTSIDE_WINDOW': {
      const { value, from } = present(policy.windows, 'the step says that there is one');
      const said = `${capital(policyOf(from))} allows updates ${value.map(windowText).join('; ')}`;
      if (result === 'urgent') return `${said}, but ${urgent}.`;
      return `${said}; at ${momentText(now)} that is ${result === 'passes' ? 'open' : 'closed'}.`;
    }
  }
}

const urgency = ({ security, minimumSupportedVersion }: PolicedRelease): string =>
  security
    ? 'this is a security update'
    : `machines below ${minimumSupportedVersion} are no longer supported`;
