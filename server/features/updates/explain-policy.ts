import { weekdays, type MaintenanceWindow } from '../../../contract/policies.ts';
import { capitalize, counted } from '../../../contract/text.ts';
import { present } from '../../invariants.ts';
import {
  type AppliedPolicy,
  deferredUntil,
  type Policed,
  type PolicedRelease,
  type PolicySource,
  type PolicyStep,
} from './policy.ts';

/** `the policy of Hospital A`, `the policy of the tag slow`. */
const sourceText = ({ kind, name }: PolicySource) =>
  `the policy of ${kind === 'tag' ? 'the tag ' : ''}${name}`;

/** `2026-11-20 09:30 UTC` */
export const momentText = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** `Mon, Tue 22:00 to 05:00 (Europe/Berlin)` */
function windowText({ weekdays: days, from, to, zone }: MaintenanceWindow): string {
  const named = weekdays.filter((day) => days.includes(day));
  const shown = named.length === weekdays.length ? 'every day' : named.map(capitalize).join(', ');
  return `${shown} ${from} to ${to}${from === to ? ' the next day' : ''} (${zone})`;
}

/** What each field of a policy says, without the end of the sentence; `whom` are the machines. */
const said = {
  channel: ({ value, from }: Field<'channel'>, whom: string) =>
    `${capitalize(sourceText(from))} puts ${whom} on ${value}`,
  pin: ({ value, from }: Field<'pin'>, whom: string) =>
    `${capitalize(sourceText(from))} pins ${whom} to ${value}`,
  updatesUntil: ({ value, from }: Field<'updatesUntil'>, whom: string) =>
    `${capitalize(sourceText(from))} gives ${whom} updates until ${value}`,
  deferDays: ({ value, from }: Field<'deferDays'>) =>
    value === 0
      ? `${capitalize(sourceText(from))} does not defer releases`
      : `${capitalize(sourceText(from))} defers releases by ${counted(value, 'day')} after they are fully out`,
  windows: ({ value, from }: Field<'windows'>) =>
    `${capitalize(sourceText(from))} allows updates ${value.length > 0 ? value.map(windowText).join('; ') : 'at any time'}`,
};
type Field<Name extends keyof AppliedPolicy> = NonNullable<AppliedPolicy[Name]>;

/** What a policy decides for machines, one sentence for each field that is set. */
export function policySentences({
  channel,
  pin,
  updatesUntil,
  deferDays,
  windows,
}: Omit<AppliedPolicy, 'isLicensed'>): string[] {
  const whom = 'its machines';
  return [
    channel && said.channel(channel, whom),
    pin && `${said.pin(pin, whom)}${pin.forSecurity ? ', also for security updates' : ''}`,
    updatesUntil && said.updatesUntil(updatesUntil, whom),
    deferDays && said.deferDays(deferDays),
    windows && said.windows(windows),
  ].flatMap((sentence) => (sentence ? [sentence.replace(/\.?$/, '.')] : []));
}

/** The channel that a policy gives the machine, if any. */
export const channelSentence = ({ policy }: Policed): string[] =>
  policy.channel ? [`${said.channel(policy.channel, 'it')}.`] : [];

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
      const pin = present(policy.pin, 'the step says that there is one');
      const pins = said.pin(pin, 'it');
      if (result === 'unmatched')
        return `${pins}, which matches no published release, so the pin does not count.`;
      if (result === 'passes') return `${pins}, which this release matches.`;
      if (result === 'urgent') return `${pins}, but ${urgent}.`;
      return `${pins}${pin.forSecurity ? ', also for security updates' : ''}; this release is outside.`;
    }
    case 'UPDATES_ENDED': {
      const until = said.updatesUntil(present(policy.updatesUntil, 'the step says that there is one'), 'it');
      return result === 'urgent' ? `${until}, but ${urgent}.` : `${until}.`;
    }
    case 'DEFERRED': {
      const deferDays = present(policy.deferDays, 'the step says that there is one');
      const until = deferredUntil(release, deferDays.value);
      const defers = said.deferDays(deferDays);
      if (deferDays.value === 0) return `${defers}.`;
      const due = until === undefined ? 'this one is not' : `this one until ${momentText(until)}`;
      return result === 'urgent' ? `${defers}, but ${urgent}.` : `${defers}: ${due}.`;
    }
    case 'OUTSIDE_WINDOW': {
      const allows = said.windows(present(policy.windows, 'the step says that there is one'));
      if (result === 'urgent') return `${allows}, but ${urgent}.`;
      return `${allows}; at ${momentText(now)} that is ${result === 'passes' ? 'open' : 'closed'}.`;
    }
  }
}

const urgency = ({ security, minimumSupportedVersion }: PolicedRelease): string =>
  security
    ? 'this is a security update'
    : `machines below ${minimumSupportedVersion} are no longer supported`;
