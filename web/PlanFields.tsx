import { ActionIcon, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useId } from 'react';
import { longestStepHours, mostSteps } from '../contract/rollout-plan.ts';
import { planSummary, type PlanValues, type TypedStep } from './release-plan.ts';
import { changeInPlace } from './ui/change-in-place.ts';
import { DayField } from './ui/DayField.tsx';
import { describedBy } from './ui/described-by.tsx';
import { NumberField } from './ui/NumberField.tsx';
import { percentageOf } from './release-form.ts';
import { IconPlus, IconX } from './ui/icons.tsx';
import { pressOnce } from './ui/press-once.ts';

/** The form that a plan is part of. It changes the list of steps, so that an error stays with its step. */
type Form = {
  getInputProps: (field: string) => GetInputPropsReturnType;
  insertListItem: (field: string, step: TypedStep, index: number) => void;
  removeListItem: (field: string, index: number) => void;
};

/** One percentage, or steps that the clock takes. */
export function PlanChoice({
  inSteps,
  onChange,
}: {
  inSteps: boolean;
  onChange: (inSteps: boolean) => void;
}) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="How the rollout goes"
      data={[
        { value: 'percentage', label: 'One percentage' },
        { value: 'steps', label: 'In steps' },
      ]}
      value={inSteps ? 'steps' : 'percentage'}
      onChange={(value) => onChange(value === 'steps')}
    />
  );
}

/** The steps of a rollout: percentages, and how long each lasts. `at`: the field of the form that has the plan. */
export function StepFields(props: { form: Form; at: string; steps: TypedStep[]; disabled?: boolean }) {
  const { form, at, steps, disabled = false } = props;
  const id = useId();
  const add = () => {
    const from = Math.max(0, ...steps.slice(0, -1).map((step) => percentageOf(step.percentage)));
    const to = percentageOf(steps.at(-1)?.percentage ?? 100);
    // each step has more than the one before it
    const percentage = to - from > 1 ? Math.round((from + to) / 2) : '';
    changeInPlace(() => form.insertListItem(`${at}.steps`, { percentage, hours: 24 }, steps.length - 1));
  };
  const remove = (index: number) => changeInPlace(() => form.removeListItem(`${at}.steps`, index));
  return (
    <Stack data-fields gap={6} role="group" aria-label="Steps">
      {steps.map((_, index) => {
        const isLast = index === steps.length - 1;
        const percentage = form.getInputProps(`${at}.steps.${index}.percentage`);
        const hours = form.getInputProps(`${at}.steps.${index}.hours`);
        const errors = [percentage.error, isLast ? undefined : hours.error];
        const problems = [...new Set(errors.filter((one) => one !== undefined))];
        const idOf = (problem: unknown) => `${id}-${index}-${problems.indexOf(problem)}`;
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a step has no other name
          <div key={index}>
            <Group gap={8} wrap="nowrap">
              <NumberField
                w={84}
                aria-label={`Percentage of step ${index + 1}`}
                min={1}
                max={100}
                unit="%"
                disabled={disabled}
                {...percentage}
                error={percentage.error !== undefined}
                {...describedBy(idOf(percentage.error))}
              />
              {isLast ? (
                <Text c="dimmed">{steps.length === 1 ? 'from the start' : 'from then on'}</Text>
              ) : (
                <>
                  <Text c="dimmed">for</Text>
                  <NumberField
                    w={84}
                    aria-label={`Hours of step ${index + 1}`}
                    min={1}
                    max={longestStepHours}
                    unit="h"
                    disabled={disabled}
                    {...hours}
                    error={hours.error !== undefined}
                    {...describedBy(idOf(hours.error))}
                  />
                </>
              )}
              {steps.length > 1 && !disabled && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="sm"
                  aria-label={`Remove step ${index + 1}`}
                  {...pressOnce(() => remove(index))}
                >
                  <IconX size={14} stroke={1.6} />
                </ActionIcon>
              )}
            </Group>
            {problems.map((problem) => (
              <Text key={idOf(problem)} id={idOf(problem)} size="xs" c="var(--mantine-color-error)" mt={2}>
                {problem}
              </Text>
            ))}
          </div>
        );
      })}
      {!disabled && steps.length < mostSteps && (
        <div>
          <Button size="compact-xs" variant="subtle" leftSection={<IconPlus size={13} />} onClick={add}>
            Add a Step
          </Button>
        </div>
      )}
    </Stack>
  );
}

/** A rollout in steps: its steps, and when it starts. `present`: where a release that is out continues. */
export function PlanFields(props: {
  form: Form;
  plan: PlanValues;
  disabled?: boolean;
  present?: string | undefined;
}) {
  const { form, plan, disabled = false, present } = props;
  const summary = planSummary(plan, present);
  return (
    <Stack gap="sm">
      <StepFields form={form} at="plan" steps={plan.steps} disabled={disabled} />
      {(summary ?? present) && (
        <Text size="xs" c="dimmed" role="status">
          {summary ?? present}
        </Text>
      )}
      <DayField
        label="Start"
        withTime="00:00"
        placeholder="At once"
        description="Empty: at once. The next step starts only while the guard has no reason to pause the rollout."
        disabled={disabled}
        {...form.getInputProps('plan.startsAt')}
      />
    </Stack>
  );
}
