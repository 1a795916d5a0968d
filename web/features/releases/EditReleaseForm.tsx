import { Button, Checkbox, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { whyNotPublish } from '../../../contract/release-state.ts';
import { releasePatch, type Release } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import { isUnanswered } from '../../api-error.ts';
import { releaseLabels } from '../../field-labels.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { usePlanSuggestion } from '../../plan-suggestion.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { minimumErrors, typedFields, withDraft } from '../../release-form.ts';
import { atPlanFields, planErrors } from '../../release-plan.ts';
import { useAuth } from '../../session.tsx';
import { CancelButton } from '../../ui/Dialog.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { Select } from '../../ui/Select.tsx';
import { ToneAlert } from '../../ui/ToneAlert.tsx';
import {
  lacksRollout,
  lockedFor,
  payloadOf,
  percentageToChoose,
  restartsDeferrals,
  rolloutOf,
  valuesOf,
  type ReleaseValues,
} from './release-form.ts';
import { releaseProblem } from './release-labels.ts';
import { RolloutFields } from './RolloutFields.tsx';

const checkAgainstContract = schemaResolver(releasePatch, { sync: true });

/** Errors of the contract's schema, by form field. */
function validate(values: ReleaseValues, seen: Release) {
  const seenStart = seen.isDraft ? '' : valuesOf(seen).plan.startsAt;
  return {
    ...checkAgainstContract({ ...payloadOf(values), ...rolloutOf(values) }),
    ...minimumErrors(values.minimumAppVersion, seen.version, valuesOf(seen).minimumAppVersion),
    ...(!values.isDraft && planErrors(values.plan, seenStart)),
    ...(lacksRollout(values) && { rolloutPercentage: 'Choose how many users are offered this release' }),
  };
}

/** Fields of the Edit dialog. It is not submitted while one of them is invalid. */
export function EditReleaseForm(props: {
  release: Release;
  busy: boolean;
  saved: boolean;
  /** All but the rollout. */
  isPartlySaved: boolean;
  error: Error | null;
  onSubmit: (values: ReleaseValues) => void;
  onCancel: () => void;
}) {
  const form = useDialogForm(props.release.id, {
    initialValues: valuesOf(props.release),
    validate: (values) => validate(values, props.release),
    validateInputOnBlur: typedFields,
  });
  useRefusedFields(props.error, form, atPlanFields);
  const { can } = useAuth();
  const { isDraft } = form.values;
  const chooses = props.release.isDraft && props.release.rolloutPercentage === 100 && can.manageRollouts;
  const locked = lockedFor(props.release, can.manageRollouts);
  const { suggest } = usePlanSuggestion(props.release, chooses);
  const setDraft = (draft: boolean) => {
    form.setValues({
      ...withDraft(form.values, draft, props.release.rolloutPercentage),
      ...(chooses && percentageToChoose(draft)),
      ...suggest(form.values, { isDraft: draft }),
      // Draft clears it and disables its checkbox.
      ...(locked.terms && !draft && { isMandatory: props.release.isMandatory }),
    });
    if (draft) form.clearFieldError('rolloutPercentage');
  };

  return (
    <form ref={focusLate} noValidate onSubmit={form.onSubmit(props.onSubmit)}>
      <Stack gap="md">
        <Fields busy={props.busy || props.saved}>
          {!can.manageRollouts && (
            <Text size="xs" role="note" className="amber-note">
              {whyNotPublish}
            </Text>
          )}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <Checkbox
              label={releaseLabels.isDraft}
              data-autofocus={!locked.draft || undefined}
              description="Release is not available for download"
              disabled={locked.draft}
              checked={isDraft}
              onChange={(event) => setDraft(event.currentTarget.checked)}
            />
            <Checkbox
              label={releaseLabels.isMandatory}
              description="Users must update to continue using the app"
              disabled={isDraft || locked.terms}
              {...form.getInputProps('isMandatory', { type: 'checkbox' })}
            />
          </SimpleGrid>
          <Checkbox
            label={releaseLabels.isActive}
            description="An inactive release is hidden from the list and offered to no one"
            disabled={locked.active}
            {...form.getInputProps('isActive', { type: 'checkbox' })}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <Select
              label={releaseLabels.channel}
              data={channels}
              allowDeselect={false}
              disabled={locked.terms}
              {...form.getInputProps('channel')}
              onChange={(channel) =>
                channel && form.setValues(suggest(form.values, { channel: channel as Channel }))
              }
            />
            <TextInput
              label={releaseLabels.minimumAppVersion}
              placeholder="0.9.0"
              description="Minimum version required to apply this update"
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              disabled={locked.terms}
              {...form.getInputProps('minimumAppVersion')}
            />
            <Checkbox
              label={releaseLabels.security}
              description="Customers get it outside of their windows and before their deferral"
              disabled={locked.terms}
              {...form.getInputProps('security', { type: 'checkbox' })}
            />
            <TextInput
              label={releaseLabels.minimumSupportedVersion}
              placeholder="0.9.0"
              description="Machines below it get this release like a security update"
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              disabled={locked.terms}
              {...form.getInputProps('minimumSupportedVersion')}
            />
          </SimpleGrid>
          <Textarea
            label={releaseLabels.releaseNotes}
            data-autofocus={locked.draft || undefined}
            rows={4}
            {...form.getInputProps('releaseNotes')}
          />
          <RolloutFields form={form} release={props.release} />
          {restartsDeferrals(form.values, props.release) && (
            <Text size="xs" role="note" className="amber-note">
              Deferrals of update policies begin again once it is offered to all machines.
            </Text>
          )}
        </Fields>
        {props.saved && (
          <ToneAlert tone="teal" role="status">
            Release updated successfully!
          </ToneAlert>
        )}
        {props.error && (
          <ToneAlert tone="red" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
            {props.isPartlySaved &&
              `The other changes are saved${isUnanswered(props.error) ? '' : ', the rollout is not'}: `}
            {releaseProblem(props.error, 'Failed to update release')}
          </ToneAlert>
        )}
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
