import {
  Button,
  Checkbox,
  Collapse,
  Group,
  NumberInput,
  Slider,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { releaseCan } from '../../../contract/releases.ts';
import { useAuth } from '../../session.tsx';
import classes from './edit-release.module.css';
import { lacksRollout, percentageOf, rolloutText, type ReleaseValues } from './release-form.ts';

const usualPercentages = [5, 25, 50, 100];

type Form = UseFormReturnType<ReleaseValues>;

/** Collapsible: to whom the release is offered, and when that stops by itself. */
export function RolloutFields({ form }: { form: Form }) {
  const { can } = useAuth();
  const { rolloutPercentage, guarded, isDraft } = form.values;
  const [expanded, setExpanded] = useState(() => percentageOf(rolloutPercentage) < 100 || guarded);
  const unchosen = lacksRollout(form.values);
  // stays open when something was chosen
  if (unchosen && !expanded) setExpanded(true);
  const id = useId();
  const refusal =
    releaseCan.rollOut({ isDraft, isActive: true, pausedAt: null }) ??
    (can.manageRollouts ? null : 'You may not manage rollouts.');

  return (
    <div className={classes.section}>
      <UnstyledButton
        className={classes.sectionToggle}
        aria-expanded={expanded}
        aria-controls={id}
        onClick={() => setExpanded(!expanded)}
      >
        <IconChevronRight size={14} stroke={2} aria-hidden />
        Rollout Configuration
        <span className={classes.sectionState}>
          {refusal ? 'Disabled' : unchosen ? 'To be chosen' : `${percentageOf(rolloutPercentage)} %`}
        </span>
      </UnstyledButton>
      <div id={id}>
        <Collapse expanded={expanded} keepMounted={false} transitionDuration={120}>
          <Stack gap="sm" className={classes.sectionBody}>
            {refusal && (
              <Text size="xs" role="note" className={classes.note}>
                {refusal}
              </Text>
            )}
            <Percentage form={form} disabled={refusal !== null} />
            <Threshold form={form} disabled={refusal !== null} />
          </Stack>
        </Collapse>
      </div>
    </div>
  );
}

function Percentage({ form, disabled }: { form: Form; disabled: boolean }) {
  const percentage = percentageOf(form.values.rolloutPercentage);
  const change = (value: number | string) => form.setFieldValue('rolloutPercentage', percentageOf(value));
  const unchosen = lacksRollout(form.values);
  const hint = useId();
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
          value={percentage}
          onChange={change}
        />
        <NumberInput
          w={84}
          aria-label="Rollout percentage in numbers"
          min={0}
          max={100}
          allowDecimal={false}
          suffix=" %"
          disabled={disabled}
          value={unchosen ? '' : percentage}
          error={form.errors['rolloutPercentage'] !== undefined}
          aria-describedby={hint}
          onChange={change}
        />
      </Group>
      {!disabled && (
        <Text
          id={hint}
          size="xs"
          c={form.errors['rolloutPercentage'] ? 'var(--mantine-color-error)' : 'dimmed'}
          mt={6}
        >
          {unchosen ? 'Choose how many users are offered this release' : rolloutText(percentage)}
        </Text>
      )}
    </div>
  );
}

/** The rollout pauses itself when more than so many percent of so many installs fail. */
function Threshold({ form, disabled }: { form: Form; disabled: boolean }) {
  return (
    <div>
      <Checkbox
        label="Pause when too many installs fail"
        disabled={disabled}
        {...form.getInputProps('guarded', { type: 'checkbox' })}
      />
      {form.values.guarded && (
        <Group gap={8} mt={8} ml={28} align="flex-start">
          <span className={classes.inWords} data-disabled={disabled || undefined}>
            More than
          </span>
          <NumberInput
            w={76}
            aria-label="Share of installs that fail, in percent"
            min={0}
            max={100}
            decimalScale={2}
            suffix=" %"
            hideControls
            disabled={disabled}
            {...form.getInputProps('failurePercent')}
          />
          <span className={classes.inWords} data-disabled={disabled || undefined}>
            of at least
          </span>
          <NumberInput
            w={76}
            aria-label="Installs before failures count"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            hideControls
            disabled={disabled}
            {...form.getInputProps('minimumInstalls')}
          />
          <span className={classes.inWords} data-disabled={disabled || undefined}>
            installs
          </span>
        </Group>
      )}
    </div>
  );
}
