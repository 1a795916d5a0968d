import { Checkbox, Stack, Text } from '@mantine/core';
import type { FormErrors } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { planText } from '../../../contract/next-step.ts';
import type { RolloutPlan } from '../../../contract/rollout-plan.ts';
import type { RolloutDefault } from '../../../contract/rollouts.ts';
import type { Channel } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import { messageOf } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { conflictOf } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { isSame } from '../../merge-edits.ts';
import { StepFields } from '../../PlanFields.tsx';
import { rolloutDefaultsQuery } from '../../plan-suggestion.ts';
import {
  planErrors,
  planSummary,
  planValues,
  stepFields,
  stepsOf,
  type PlanValues,
} from '../../release-plan.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { setRolloutDefault } from './queries.ts';

type Values = Record<Channel, PlanValues>;

/** The steps that the release form suggests when a release is published, for each channel. */
export default function DefaultRollouts({ onClose }: { onClose: () => void }) {
  const defaults = useQuery(rolloutDefaultsQuery());
  return (
    <Dialog title="Default Rollout" size={440} onClose={onClose}>
      <LoadedForm query={defaults} title="Error loading the default rollouts" heights={[20, 20, 20]}>
        {(data) => <DefaultsForm defaults={data} onClose={onClose} />}
      </LoadedForm>
    </Dialog>
  );
}

const valuesOfPlan = (rolloutPlan: RolloutPlan | null) => planValues({ rolloutPlan, startsAt: null });

const valuesOf = (defaults: readonly RolloutDefault[]) =>
  Object.fromEntries(
    channels.map((channel) => {
      const plan = defaults.find((one) => one.channel === channel)?.plan ?? null;
      return [channel, valuesOfPlan(plan)];
    }),
  ) as Values;

const planOf = (values: PlanValues) => (values.inSteps ? stepsOf(values) : null);

const validate = (values: Values): FormErrors =>
  Object.fromEntries(
    channels.flatMap((channel) =>
      Object.entries(planErrors(values[channel])).map(([path, message]) => [
        path.replace('plan', channel),
        message,
      ]),
    ),
  );

const conflictText = (channel: Channel, plan: RolloutPlan | null) =>
  `Someone else changed ${channel} meanwhile: ${plan ? planText(plan) : 'no steps'}. Save again to set yours.`;

function DefaultsForm({ defaults, onClose }: { defaults: RolloutDefault[]; onClose: () => void }) {
  const [seen, setSeen] = useSeen('default rollouts', defaults);
  const form = useDialogForm('default rollouts', {
    initialValues: valuesOf(seen),
    validate,
    validateInputOnBlur: channels.flatMap(stepFields),
  });
  const save = useChange({
    mutationFn: async (values: Values) => {
      const known = new Map(seen.map((one) => [one.channel, one]));
      for (const channel of channels) {
        const plan = planOf(values[channel]);
        const before = known.get(channel)?.plan ?? null;
        if (isSame(plan, planOf(valuesOfPlan(before)))) continue;
        try {
          await setRolloutDefault(channel, { plan, seen: before });
        } catch (error) {
          // Saving again overwrites what is shown as the colleague's then, and sends no channel twice.
          const theirs = conflictOf(error)?.details[0]?.current as RolloutPlan | null | undefined;
          if (theirs !== undefined) known.set(channel, { channel, plan: theirs });
          setSeen([...known.values()]);
          throw theirs === undefined ? error : new Error(conflictText(channel, theirs));
        }
        known.set(channel, { channel, plan });
      }
    },
    onSuccess: () => {
      onClose();
      void toast({ message: 'Default rollouts saved', subject: { name: 'Default rollouts' } });
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => save.mutate(values))}
      problem={save.error ? messageOf(save.error, 'Failed to save the default rollouts') : undefined}
      submitLabel="Save"
      busy={save.isPending}
      onCancel={onClose}
    >
      <Text size="xs" c="dimmed">
        What the release form suggests when a release is published on a channel. Releases that are published
        already keep their rollout.
      </Text>
      {channels.map((channel, index) => (
        <Stack key={channel} gap="xs" role="group" aria-label={`Channel ${channel}`}>
          <Checkbox
            label={`Suggest steps on ${channel}`}
            data-autofocus={index === 0 || undefined}
            {...form.getInputProps(`${channel}.inSteps`, { type: 'checkbox' })}
          />
          {form.values[channel].inSteps && (
            <Stack gap={6} ml={28}>
              <StepFields form={form} at={channel} steps={form.values[channel].steps} />
              <Text size="xs" c="dimmed" role="status">
                {planSummary(form.values[channel])}
              </Text>
            </Stack>
          )}
        </Stack>
      ))}
    </DialogForm>
  );
}
