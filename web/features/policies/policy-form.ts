import { FORM_INDEX, type FormErrors, type UseFormReturnType } from '@mantine/form';
import { policyLabels } from '../../field-labels.ts';
import { counted } from '../../ui/counted.ts';
import type { Channel } from '../../../contract/versions.ts';
import {
  noPolicy,
  weekdays,
  type MaintenanceWindow,
  type PolicyImpact,
  type UpdatePolicy,
} from '../../../contract/policies.ts';
import { capitalize } from '../../../contract/text.ts';
import { differingFields, orDash, type Clash } from '../../edit-conflict.ts';
import { dayProblem, shownDay } from '../../ui/typed-day.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import { windowText } from '../../window-text.ts';
import { countText } from '../../ui/numbers.ts';
import { zone } from '../../ui/locale.ts';

/** The fields of a policy as typed. */
export type PolicyValues = {
  /** Separated by commas; of a customer only. */
  tags: string;
  channel: Channel | '';
  pin: string;
  pinForSecurity: boolean;
  deferDays: TypedNumber;
  updatesUntil: string;
  windowsMode: 'unset' | 'any' | 'windows';
  windows: MaintenanceWindow[];
};

export type PolicyFormState = UseFormReturnType<PolicyValues>;

/** Every night, by the clocks of the person who enters it. */
export const usualWindow = (): MaintenanceWindow => ({
  zone,
  weekdays: [...weekdays],
  from: '22:00',
  to: '05:00',
});

export const valuesOf = (policy: UpdatePolicy & { tags?: readonly string[] }): PolicyValues => ({
  tags: (policy.tags ?? []).join(', '),
  channel: policy.channel ?? '',
  pin: policy.pin ?? '',
  pinForSecurity: policy.pinForSecurity,
  deferDays: policy.deferDays ?? '',
  updatesUntil: policy.updatesUntil ?? '',
  windowsMode: policy.windows === null ? 'unset' : policy.windows.length === 0 ? 'any' : 'windows',
  windows: policy.windows ?? [],
});

/** The policy of a request. Numbers are as typed, for the contract to validate. */
export const policyPayload = (values: PolicyValues): UpdatePolicy => ({
  ...noPolicy,
  channel: values.channel || null,
  pin: values.pin.trim() || null,
  pinForSecurity: values.pin.trim() !== '' && values.pinForSecurity,
  deferDays: values.deferDays === '' ? null : (values.deferDays as number),
  updatesUntil: values.updatesUntil || null,
  windows: { unset: null, any: [], windows: values.windows }[values.windowsMode],
});

export const tagsOf = ({ tags }: Pick<PolicyValues, 'tags'>): string[] => [
  ...new Set(tags.split(',').flatMap((tag) => tag.trim().toLowerCase() || [])),
];

/** `null` for a field that a merge of two edits has left out. */
export const wholePolicy = (payload: Partial<UpdatePolicy>): UpdatePolicy => ({
  ...noPolicy,
  ...Object.fromEntries(Object.entries(payload).map(([field, value]) => [field, value ?? null])),
});

/** Validated on blur: fields whose text may be half of what it should be. */
export const typedFields = [
  'tags',
  'pin',
  'deferDays',
  'updatesUntil',
  ...['from', 'to'].map((name) => `windows.${FORM_INDEX}.${name}`),
];

/** The error of a typed day, in the words of the other date fields. */
export function withDayProblem(errors: FormErrors, { updatesUntil }: PolicyValues): FormErrors {
  const problem = dayProblem(updatesUntil);
  return problem ? { ...errors, updatesUntil: problem } : errors;
}

/** The errors of the contract or the server, by form field. */
export const atPolicyFields = (errors: FormErrors): FormErrors =>
  Object.fromEntries(
    Object.entries(errors).map(([path, error]) => [path.startsWith('tags.') ? 'tags' : path, error]),
  );

/** Labels of the fields in which two edits of one policy differ. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, policyLabels, {
    tags: orDash((tags: string[]) => tags.join(', ') || '—'),
    channel: orDash(capitalize),
    deferDays: orDash((days: number) => counted(days, 'day')),
    updatesUntil: orDash(shownDay),
    windows: windowsText,
  });

function windowsText(windows: MaintenanceWindow[] | null | undefined): string {
  if (!windows) return 'Not set';
  return windows.map(windowText).join('; ') || 'At any time, whatever a tag says';
}

/** What saving changes for machines, in sentences: what is counted now, and what the policy holds back at other times. */
export function impactSentences(
  impact: PolicyImpact,
  { windows, updatesUntil }: Pick<UpdatePolicy, 'windows' | 'updatesUntil'>,
): string[] {
  const { machines, isComplete, changed, held, pinMatches, unpinned } = impact;
  const nothing =
    held === 0
      ? ''
      : held < changed
        ? `, ${countText(held)} of them nothing`
        : held === 1
          ? ', which is nothing'
          : ', all of them nothing';
  const of = isComplete ? counted(machines, 'machine') : `the first ${counted(machines, 'machine')}`;
  return [
    machines === 0
      ? 'No machine is affected.'
      : changed === 0
        ? `None of ${of} would be offered something else now.`
        : `${countText(changed)} of ${of} would be offered something else now${nothing}.`,
    ...(pinMatches === false
      ? [
          `No published release matches the pinned version. Until one does, the pin holds back ${unpinned === machines ? 'no machine' : 'only machines that run a version inside it'}.`,
        ]
      : unpinned > 0
        ? [
            `For ${countText(unpinned)} of them no published release matches the pinned version. Until one does, the pin does not hold ${unpinned === 1 ? 'it' : 'them'} back.`,
          ]
        : []),
    ...(windows && windows.length > 0 ? [`Outside of the maintenance windows, ${onlyUrgent}`] : []),
    ...(updatesUntil ? [`After ${shownDay(updatesUntil)} (UTC), ${onlyUrgent}`] : []),
  ];
}

const onlyUrgent = 'nothing is offered but security updates and what a machine needs to stay supported.';
