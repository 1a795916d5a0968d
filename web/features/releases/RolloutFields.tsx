import { Button, Collapse, Group, Slider, Stack, Text, UnstyledButton } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useId, useState } from 'react';
import { nextStep } from '../../../contract/next-step.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release } from '../../../contract/releases.ts';
import { AcceptableFailures } from '../../AcceptableFailures.tsx';
import { PlanChoice, PlanFields } from '../../PlanFields.tsx';
import { isPercentage, numberFields, percentageOf } from '../../release-form.ts';
import type { PlanValues } from '../../release-plan.ts';
import { useAuth } from '../../session.tsx';
import { counted } from '../../ui/counted.ts';
import { describedBy } from '../../ui/described-by.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { IconChevronRight } from '../../ui/icons.tsx';
import classes from './edit-release.module.css';
import { lacksRollout, rolloutText, type ReleaseValues } from './release-form.ts';

const usualPercentages = [5, 25, 50, 100];

type Form = UseFormReturnType<ReleaseValues>;

/** Collapsible: who is offered the release, and when the rollout pauses itself. */
export function RolloutFields({ form, release }: { form: Form; release: Release }) {
  const { can } = useAuth();
  const { rolloutPercentage, acceptableFailures, isDraft, plan } = form.values;
  const [expanded, setExpanded] = useState(
    () => percentageOf(rolloutPercentage) < 100 || acceptableFailures !== '' || plan.inSteps,
  );
  const unchosen = lacksRollout(form.values);
  // stays open after the percentage has been chosen
  if ((unchosen || (plan.inSteps && !isDraft && release.isDraft)) && !expanded) setExpanded(true);
  const id = useId();
  // Open also when a field inside has an error.
  const isOpen =
    expanded ||
    numberFields.some((name) => form.errors[name] !== undefined) ||
    Object.keys(form.errors).some((name) => name.startsWith('plan.'));
  const refusal =
    releaseRefusal.rollOut({ isDraft, isActive: true, pausedAt: null }) ??
    (can.manageRollouts ? null : 'You may not manage rollouts.');

  return (
    <div className={classes.section}>
      <UnstyledButton
        className={classes.sectionToggle}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setExpanded(!isOpen)}
      >
        <IconChevronRight size={14} stroke={2} />
        Rollout Configuration
        <span className={classes.sectionState}>
          {refusal ? 'Disabled' : unchosen ? 'To be chosen' : shareText(form.values)}
        </span>
      </UnstyledButton>
      <div id={id}>
        <Collapse expanded={isOpen} keepMounted={false} transitionDuration={120}>
          <Stack gap="sm" className={classes.sectionBody}>
            {refusal && (
              <Text size="xs" role="note" className="amber-note">
                {refusal}
              </Text>
            )}
            {refusal === null && (
              <PlanChoice
                inSteps={plan.inSteps}
                onChange={(inSteps) => form.setFieldValue('plan.inSteps', inSteps)}
              />
            )}
            {plan.inSteps ? (
              <PlanFields
                form={form}
                plan={plan}
                disabled={refusal !== null}
                present={release.isDraft ? undefined : presentText(release, plan)}
              />
            ) : (
              <Percentage form={form} disabled={refusal !== null} />
            )}
            {!plan.inSteps && !isDraft && release.rolloutPlan !== null && (
              <Text size="xs" role="status">
                Saving drops the rest of the plan: the percentage stays until somebody changes it.
              </Text>
            )}
            <AcceptableFailures
              build={{ ...release, channel: form.values.channel }}
              disabled={refusal !== null}
              {...form.getInputProps('acceptableFailures')}
            />
          </Stack>
        </Collapse>
      </div>
    </div>
  );
}

/** Where typed steps go on, as the service does: from the step with this percentage, else at the first one. */
function presentText(release: Release, { steps, startsAt }: PlanValues): string {
  const { rolloutPercentage: present, rolloutPlan, stepTaken } = release;
  const first = Number(steps[0]?.percentage);
  if (first > present)
    return `The rollout goes from its present ${present} % to ${first} % ${startsAt ? 'at the start' : 'at once'}.`;
  const reached = steps.findLast(({ percentage }) => Number(percentage) <= present)?.percentage;
  const isSameStep = stepTaken !== null && reached === rolloutPlan?.[stepTaken]?.percentage;
  const counts = release.isActive && isSameStep && nextStep(release) !== undefined;
  return `The rollout continues from its present ${present} %${counts ? '; the hours of its step that have run count' : ''}.`;
}

const shareText = ({ plan, rolloutPercentage }: ReleaseValues): string =>
  plan.inSteps ? `In ${counted(plan.steps.length, 'step')}` : `${percentageOf(rolloutPercentage)} %`;

function Percentage({ form, disabled }: { form: Form; disabled: boolean }) {
  const percentage = percentageOf(form.values.rolloutPercentage);
  const change = (value: number) => form.setFieldValue('rolloutPercentage', value);
  const unchosen = lacksRollout(form.values);
  const error = form.errors['rolloutPercentage'];
  const hint = useId();
  const said = unchosen
    ? 'Choose how many users are offered this release'
    : isPercentage(percentage) && rolloutText(percentage);
  return (
    <div>
      {!disabled && (
        <Group gap={6} mb={8} role="group" aria-label="Usual percentages">
          {usualPercentages.map((usual) => (
            <Button
              key={usual}
              size="compact-xs"
              variant={!unchosen && percentage === usual ? 'light' : 'default'}
              aria-pressed={!unchosen && percentage === usual}
              onClick={() => change(usual)}
            >
              {usual === 100 ? 'Everyone' : `${usual} %`}
            </Button>
          ))}
        </Group>
      )}
      <Group gap="md" wrap="nowrap">
        <Slider
          flex={1}
          size="sm"
          label={null}
          thumbLabel="Rollout percentage"
          disabled={disabled}
          value={Math.min(100, Math.max(0, percentage))}
          onChange={change}
        />
        <NumberField
          w={84}
          aria-label="Rollout percentage in numbers"
          min={0}
          max={100}
          unit="%"
          emptyIs={0}
          disabled={disabled}
          {...form.getInputProps('rolloutPercentage')}
          error={error !== undefined}
          {...describedBy(hint)}
        />
      </Group>
      {!disabled && (
        <Text id={hint} size="xs" c={error ? 'var(--mantine-color-error)' : 'dimmed'} mt={6}>
          {error ?? said}
        </Text>
      )}
    </div>
  );
}
