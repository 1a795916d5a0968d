import { Button, Checkbox, Group, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { releasePatch, type Release } from '../../../contract/releases.ts';
import { channels } from '../../../contract/versions.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { useAuth } from '../../session.tsx';
import { CancelButton } from '../../ui/Dialog.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { Banner } from './Banner.tsx';
import {
  asDraft,
  fieldLabels,
  lacksRollout,
  payloadOf,
  rolloutOf,
  valuesOf,
  type ReleaseValues,
} from './release-form.ts';
import { problemOf } from './release-words.ts';
import { RolloutFields } from './RolloutFields.tsx';

const checkAgainstContract = schemaResolver(releasePatch, { sync: true });

/** Errors of the contract's schema, under the fields that show them. */
function validate(values: ReleaseValues) {
  const {
    'failureThreshold.percent': failurePercent,
    'failureThreshold.minimumInstalls': minimumInstalls,
    ...errors
  } = checkAgainstContract({ ...payloadOf(values), ...rolloutOf(values) });
  return {
    ...errors,
    ...(failurePercent && { failurePercent: 'From 0 to 100' }),
    ...(minimumInstalls && { minimumInstalls: 'A whole number from 1' }),
    ...(lacksRollout(values) && { rolloutPercentage: 'Choose how many users are offered this release' }),
  };
}

/** Fields of the Edit dialog. Nothing is sent while one of them is wrong. */
export function EditReleaseForm(props: {
  release: Release;
  busy: boolean;
  saved: boolean;
  error: Error | null;
  onSubmit: (values: ReleaseValues) => void;
  onCancel: () => void;
}) {
  const form = useDialogForm(props.release.id, {
    initialValues: valuesOf(props.release),
    validate,
    validateInputOnBlur: ['rolloutPercentage', 'failurePercent', 'minimumInstalls'],
  });
  useRefusedFields(props.error, form);
  const { can } = useAuth();
  const { isDraft } = form.values;
  const chooses = props.release.isDraft && props.release.rolloutPercentage === 100 && can.manageRollouts;

  return (
    <form ref={focusLate} noValidate onSubmit={form.onSubmit(props.onSubmit)}>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <Checkbox
            label={fieldLabels.isDraft}
            data-autofocus
            description="Release is not available for download"
            checked={isDraft}
            onChange={(event) => form.setValues(asDraft(form.values, event.currentTarget.checked, chooses))}
          />
          <Checkbox
            label={fieldLabels.isMandatory}
            description="Users must update to continue using the app"
            disabled={isDraft}
            {...form.getInputProps('isMandatory', { type: 'checkbox' })}
          />
        </SimpleGrid>
        <Checkbox
          label={fieldLabels.isActive}
          description="An inactive release is hidden from the list and offered to no one"
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <Select
            label={fieldLabels.channel}
            data={channels}
            allowDeselect={false}
            {...form.getInputProps('channel')}
          />
          <TextInput
            label={fieldLabels.minimumAppVersion}
            placeholder="0.9.0"
            description="Minimum version required to apply this update"
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            maxLength={100}
            {...form.getInputProps('minimumAppVersion')}
          />
        </SimpleGrid>
        <Textarea
          label={fieldLabels.releaseNotes}
          rows={4}
          maxLength={20_000}
          {...form.getInputProps('releaseNotes')}
        />
        <RolloutFields form={form} />
        {props.saved && <Banner tone="teal">Release updated successfully!</Banner>}
        {props.error && <Banner tone="red">{problemOf(props.error, 'Failed to update release')}</Banner>}
        <Group justify="flex-end" gap="xs">
          <CancelButton onCancel={props.onCancel} />
          <Button type="submit" disabled={props.busy || props.saved}>
            {props.busy ? 'Saving...' : 'Save Changes'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
