import { Checkbox, SimpleGrid, TextInput } from '@mantine/core';
import { channels } from '../../../contract/list-words.ts';
import { policyLabels } from '../../field-labels.ts';
import { DayField } from '../../ui/DayField.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { Select } from '../../ui/Select.tsx';
import { type PolicyFormState } from './policy-form.ts';
import { WindowFields } from './WindowFields.tsx';

const belowInput = ['label' as const, 'input' as const, 'error' as const, 'description' as const];
const channelChoices = [
  { value: '', label: 'As the machine asks' },
  ...channels.map((channel) => ({ value: channel, label: channel })),
];

/** The fields of a policy; an empty one decides nothing. */
export function PolicyFields({ form }: { form: PolicyFormState }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Select
          label={policyLabels.channel}
          data={channelChoices}
          allowDeselect={false}
          {...form.getInputProps('channel')}
        />
        <NumberField
          label={policyLabels.deferDays}
          description="After a release is fully out"
          inputWrapperOrder={belowInput}
          min={0}
          max={365}
          unit="days"
          rightSectionWidth={44}
          {...form.getInputProps('deferDays')}
        />
        <TextInput
          label={policyLabels.pin}
          placeholder="4.2."
          description="4. or 4.2. or a version"
          inputWrapperOrder={belowInput}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          {...form.getInputProps('pin')}
        />
        <DayField
          label={policyLabels.updatesUntil}
          description="The last day, UTC"
          {...form.getInputProps('updatesUntil')}
        />
      </SimpleGrid>
      <Checkbox
        label={policyLabels.pinForSecurity}
        description="The pin then also holds back security updates, which pass everything else"
        disabled={form.values.pin.trim() === ''}
        {...form.getInputProps('pinForSecurity', { type: 'checkbox' })}
      />
      <WindowFields form={form} />
    </>
  );
}
