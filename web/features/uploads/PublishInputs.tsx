import { Checkbox, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { whyNotPublish } from '../../../contract/releases.ts';
import { withDraft } from '../../release-form.ts';
import { useAuth } from '../../session.tsx';
import { AcceptableFailures } from '../../ui/AcceptableFailures.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { DraftOnly } from '../approvals/index.ts';
import { reachText, type NewReleaseState } from './new-release.ts';

/** Aligns fields whose descriptions differ in length. */
const belowInput = ['label' as const, 'input' as const, 'error' as const, 'description' as const];

/** The other fields of a build: notes, draft, mandatory, rollout. */
export function PublishInputs({ form }: { form: NewReleaseState }) {
  const { values } = form;
  const { can } = useAuth();
  const mayNotPublish = values.isDraft && !can.manageRollouts;
  const setDraft = (isDraft: boolean) => {
    form.setValues(withDraft(values, isDraft, 100));
    if (isDraft) form.clearFieldError('rolloutPercentage');
  };
  return (
    <>
      <Textarea
        label="Release Notes"
        autosize
        minRows={2}
        maxRows={10}
        maxLength={20_000}
        {...form.getInputProps('releaseNotes')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <TextInput
          label="Minimum App Version"
          placeholder="0.9.0"
          description="Minimum version required to apply this update"
          inputWrapperOrder={belowInput}
          maxLength={100}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          {...form.getInputProps('minimumAppVersion')}
        />
        <NumberField
          label="Rollout Percentage"
          description={
            values.isDraft
              ? 'A draft is offered to no one. The rollout is chosen when it is published.'
              : reachText(values.rolloutPercentage)
          }
          disabled={values.isDraft}
          inputWrapperOrder={belowInput}
          min={0}
          max={100}
          unit="%"
          emptyIs={0}
          {...form.getInputProps('rolloutPercentage')}
        />
      </SimpleGrid>
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
            disabled={mayNotPublish}
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
            maxLength={100}
            classNames={{ input: 'mono' }}
            spellCheck={false}
            {...form.getInputProps('minimumSupportedVersion')}
          />
        </SimpleGrid>
        <DraftOnly channel={values.channel} isDraft={values.isDraft} />
        <AcceptableFailures {...form.getInputProps('acceptableFailures')} />
      </Stack>
    </>
  );
}
