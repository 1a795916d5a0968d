import { Button, Group, Text, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { customerPolicyInput, type CustomerPolicy } from '../../../contract/policies.ts';
import { policyLabels } from '../../field-labels.ts';
import { useSeen } from '../../kept-work.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { Dialog, useDialogSubject, useLeaveTo } from '../../ui/Dialog.tsx';
import { policyPayload, tagsOf, wholePolicy } from './policy-form.ts';
import { PolicyForm } from './PolicyForm.tsx';
import {
  customerPolicyImpactQuery,
  customerPolicyQuery,
  saveCustomerPolicy,
  type CustomerBody,
} from './queries.ts';
import { aboutCustomer } from '../../toast-subjects.ts';

type Props = { id: string; onClose: () => void; onTag: (tag: string) => void };

/** The tags and the update policy of a customer. */
export default function CustomerPolicyModal({ id, onClose, onTag }: Props) {
  const policy = useQuery(customerPolicyQuery(id));
  return (
    <Dialog title="Update Policy" onClose={onClose}>
      <LoadedForm
        query={policy}
        title="Error loading update policy"
        record="customer"
        heights={[48, 48, 48, 48]}
      >
        {(data) => <CustomerForm policy={data} onClose={onClose} onTag={onTag} />}
      </LoadedForm>
    </Dialog>
  );
}

const checkAgainstContract = schemaResolver(customerPolicyInput, { sync: true });

function CustomerForm({ policy, onClose, onTag }: { policy: CustomerPolicy } & Omit<Props, 'id'>) {
  const name = `policy of ${policy.customerId}`;
  const [seen] = useSeen(name, policy);
  useDialogSubject(seen.name);
  const leaveTo = useLeaveTo();
  return (
    <PolicyForm
      name={name}
      seen={seen}
      subject={aboutCustomer(seen)}
      bodyOf={(values): CustomerBody => ({ tags: tagsOf(values), ...policyPayload(values) })}
      check={checkAgainstContract}
      impactOf={(body) => customerPolicyImpactQuery(seen.customerId, body)}
      save={({ tags = [], ...rest }, { updatedAt }) =>
        saveCustomerPolicy(seen.customerId, { tags, ...wholePolicy(rest), updatedAt })
      }
      onClose={onClose}
    >
      {(form) => (
        <>
          <Text size="sm">For {seen.name}.</Text>
          <TextInput
            label={policyLabels.tags}
            data-autofocus
            placeholder="clinics, slow"
            description="Separated by commas. Fields that are empty here come from the policy of a tag"
            inputWrapperOrder={['label', 'input', 'error', 'description']}
            {...form.getInputProps('tags')}
          />
          {seen.tags.length > 0 && (
            <Group gap="xs">
              {seen.tags.map((tag) => (
                <Button
                  key={tag}
                  size="compact-xs"
                  variant="default"
                  onClick={() => leaveTo(() => onTag(tag))}
                >
                  Policy of {tag}
                </Button>
              ))}
            </Group>
          )}
        </>
      )}
    </PolicyForm>
  );
}
