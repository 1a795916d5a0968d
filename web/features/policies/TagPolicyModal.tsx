import { Text } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { noPolicy, tagPolicyInput, type TagPolicy } from '../../../contract/policies.ts';
import { useSeen } from '../../kept-work.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { counted } from '../../ui/counted.ts';
import { Dialog, useDialogSubject } from '../../ui/Dialog.tsx';
import { paths } from '../../paths.ts';
import { policyPayload, wholePolicy } from './policy-form.ts';
import { PolicyForm } from './PolicyForm.tsx';
import { saveTagPolicy, tagPolicyImpactQuery, tagPolicyQuery } from './queries.ts';

/** The update policy of all customers with a tag. */
export default function TagPolicyModal({ tag, onClose }: { tag: string; onClose: () => void }) {
  const stored = useQuery(tagPolicyQuery(tag));
  const empty = { tag, customers: 0, ...noPolicy, updatedAt: new Date(0).toISOString() };
  return (
    <Dialog title="Update Policy of a Tag" onClose={onClose}>
      <LoadedForm query={stored} title="Error loading update policy" heights={[48, 48, 48]}>
        {(data) => <TagForm policy={data ?? empty} onClose={onClose} />}
      </LoadedForm>
    </Dialog>
  );
}

const checkAgainstContract = schemaResolver(tagPolicyInput, { sync: true });

function TagForm({ policy, onClose }: { policy: TagPolicy; onClose: () => void }) {
  const name = `policy of tag ${policy.tag}`;
  const [seen] = useSeen(name, policy);
  useDialogSubject(seen.tag);
  return (
    <PolicyForm
      name={name}
      seen={seen}
      subject={{ name: `Tag ${seen.tag}`, to: paths.policies }}
      bodyOf={policyPayload}
      check={checkAgainstContract}
      impactOf={(body) => tagPolicyImpactQuery(seen.tag, body)}
      save={(body, { updatedAt }) => saveTagPolicy(seen.tag, { ...wholePolicy(body), updatedAt })}
      onClose={onClose}
    >
      {() => (
        <Text size="sm">
          For {counted(seen.customers, 'customer')} with the tag {seen.tag}. What a customer decides itself
          comes first, then its tags in alphabetical order.
        </Text>
      )}
    </PolicyForm>
  );
}
