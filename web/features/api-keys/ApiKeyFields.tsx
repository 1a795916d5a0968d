import { Checkbox, SimpleGrid, Stack, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { highestRateLimit } from '../../../contract/api-keys.ts';
import { apiKeyScopes, type ApiKeyScope } from '../../../contract/route.ts';
import { apiKeyLabels } from '../../field-labels.ts';
import { useAuth } from '../../session.tsx';
import { DayField } from '../../ui/DayField.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import type { Values } from './api-key-form.ts';
import { scopeLabels, whyNotScope } from './api-key-labels.ts';
import { zone } from '../../ui/locale.ts';

type ApiKeyForm = UseFormReturnType<Values>;

export const staysIfEmpty = 'Left empty, it stays as it is';

/** Fields that creating and editing share. */
export function LimitFields({ form, required }: { form: ApiKeyForm; required: boolean }) {
  const ifEmpty = required ? '' : `. ${staysIfEmpty}`;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <DayField
        withTime="23:59"
        label={apiKeyLabels.expiresAt}
        description={`In your time zone, ${zone}. Without a time, at the end of the day${ifEmpty}`}
        required={required}
        {...form.getInputProps('expiresAt')}
      />
      <NumberField
        label={apiKeyLabels.rateLimit}
        description={`Requests per hour${ifEmpty}`}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        required={required}
        min={1}
        max={highestRateLimit}
        {...form.getInputProps('rateLimit')}
      />
    </SimpleGrid>
  );
}

/** The IP whitelist. When the key already has one, an empty field leaves it unchanged, and a checkbox removes it. */
export function WhitelistField({ form, canLift }: { form: ApiKeyForm; canLift: boolean }) {
  const lifted = canLift && form.values.anyAddress;
  return (
    <Stack gap={8}>
      <Textarea
        label={apiKeyLabels.ipWhitelist}
        placeholder="203.0.113.7, 10.0.0.0/8, 2001:db8::/32"
        description={
          canLift
            ? 'IP addresses or CIDR ranges, separated by commas. Left empty, the whitelist stays as it is.'
            : 'Optional: IP addresses or CIDR ranges, separated by commas. Without them every address may use the key.'
        }
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        autosize
        minRows={1}
        maxRows={6}
        disabled={lifted}
        {...form.getInputProps('ipWhitelist')}
      />
      {canLift && (
        <Checkbox
          label="Remove the IP restriction: every address may use the key"
          {...form.getInputProps('anyAddress', { type: 'checkbox' })}
        />
      )}
    </Stack>
  );
}

/**
 * The scopes of the key. Scopes that the user cannot grant are disabled and say why; one that the key already has may
 * be kept or removed, and one that was chosen before the user lost its permissions can be taken out.
 */
export function ScopesField({ form, already }: { form: ApiKeyForm; already: readonly ApiKeyScope[] }) {
  const { permissions } = useAuth();
  return (
    <Checkbox.Group
      label={apiKeyLabels.scopes}
      size="xs"
      {...form.getInputProps('scopes')}
      data-wrong={form.errors['scopes'] !== undefined || undefined}
    >
      <Stack gap={8} mt={6} mb={4}>
        {apiKeyScopes.map((scope) => {
          const { label, description } = scopeLabels[scope];
          const refusal = whyNotScope(scope, permissions);
          return (
            <Checkbox
              key={scope}
              value={scope}
              label={label}
              description={refusal ? `${description}. ${refusal}.` : description}
              disabled={refusal !== null && ![...already, ...form.values.scopes].includes(scope)}
            />
          );
        })}
      </Stack>
    </Checkbox.Group>
  );
}
