import { Checkbox, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useId } from 'react';
import { whyNotPublish } from '../../../contract/release-state.ts';
import { AcceptableFailures } from '../../AcceptableFailures.tsx';
import { PlanChoice, PlanFields } from '../../PlanFields.tsx';
import { usePlanSuggestion } from '../../plan-suggestion.ts';
import { withDraft } from '../../release-form.ts';
import { useAuth } from '../../session.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { reachText, unplanned, type NewReleaseState } from './new-release.ts';

/** Aligns fields whose descriptions differ in length. */
const belowInput = ['label' as const, 'input' as const, 'error' as const, 'description' as const];

type Build = Parameters<typeof AcceptableFailures>[0]['build'];

/** The other fields of a build: notes, draft, mandatory, rollout. `draftOnly`: see `useDraftOnly`. */
export function PublishInputs(props: { form: NewReleaseState; build: Build; draftOnly: string | null }) {
  const { form, build, draftOnly } = props;
  const draftOnlyId = useId();
  const { values } = form;
  const { can } = useAuth();
  const mayNotPublish = values.isDraft && !can.manageRollouts;
  const { suggest, isLoading } = usePlanSuggestion(unplanned, can.manageRollouts);
  const isInSteps = !values.isDraft && values.plan.inSteps;
  // on another channel, it may be published
  const isRefused = draftOnly !== null && form.errors['isDraft'] !== undefined;
  const setDraft = (isDraft: boolean) => {
    form.setValues({ ...withDraft(values, isDraft, 100), ...suggest(values, { isDraft }) });
    if (isDraft) form.clearFieldError('rolloutPercentage');
  };
  return (
    <>
      <Textarea
        label="Release Notes"
        autosize
        minRows={2}
        maxRows={10}
        {...form.getInputProps('releaseNotes')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <TextInput
          label="Minimum App Version"
          placeholder="0.9.0"
          description="Minimum version required to apply this update"
          inputWrapperOrder={belowInput}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          {...form.getInputProps('minimumAppVersion')}
        />
        <NumberField
          label="Rollout Percentage"
          description={
            values.isDraft
              ? 'A draft is offered to no one. The rollout is chosen when it is published.'
              : isInSteps
                ? 'The steps below decide'
                : reachText(values.rolloutPercentage)
          }
          disabled={values.isDraft || isInSteps}
          inputWrapperOrder={belowInput}
          min={0}
          max={100}
          unit="%"
          emptyIs={0}
          {...form.getInputProps('rolloutPercentage')}
        />
      </SimpleGrid>
      {!values.isDraft && (
        <Stack gap="sm">
          <div>
            <PlanChoice
              inSteps={values.plan.inSteps}
              onChange={(inSteps) => form.setFieldValue('plan.inSteps', inSteps)}
            />
          </div>
          {isInSteps && <PlanFields form={form} plan={values.plan} />}
        </Stack>
      )}
      <Stack gap="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <Checkbox
            label="Draft Release"
            description={
              <>
                Release is not available for download
                {mayNotPublish && <span style={{ display: 'block' }}>{whyNotPublish}</span>}
              </>
            }
            disabled={mayNotPublish || isLoading}
            error={isRefused}
            aria-invalid={isRefused}
            {...(draftOnly !== null && { 'aria-describedby': draftOnlyId })}
            checked={values.isDraft}
            onChange={(event) => setDraft(event.currentTarget.checked)}
          />
          <Checkbox
            label="Mandatory Update"
            description="Users must update to continue using the app"
            disabled={values.isDraft}
            {...form.getInputProps('isMandatory', { type: 'checkbox' })}
          />
        </SimpleGrid>
        {draftOnly !== null && (
          <Text id={draftOnlyId} size="xs" role="status" className="amber-note">
            {draftOnly}
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <Checkbox
            label="Security Update"
            description="Customers get it outside of their windows and before their deferral"
            {...form.getInputProps('security', { type: 'checkbox' })}
          />
          <TextInput
            label="Minimum Supported Version"
            placeholder="0.9.0"
            description="Machines below it get this release like a security update"
            inputWrapperOrder={belowInput}
            classNames={{ input: 'mono' }}
            spellCheck={false}
            {...form.getInputProps('minimumSupportedVersion')}
          />
        </SimpleGrid>
        <AcceptableFailures build={build} {...form.getInputProps('acceptableFailures')} />
      </Stack>
    </>
  );
}
