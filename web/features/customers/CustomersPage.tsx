import { useQuery } from '@tanstack/react-query';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { CreateButton, ImportButton } from '../../ui/ListButtons.tsx';
import { Page } from '../../ui/Page.tsx';
import { ScreenButton } from '../../ui/ScreenLink.tsx';
import { IconTrash } from '../../ui/icons.tsx';
import { ImportCustomers } from '../imports/index.ts';
import { CustomerPolicyModal, TagPolicyModal } from '../policies/index.ts';
import { CustomerList } from './CustomerList.tsx';
import { CustomerModal } from './lazy.ts';
import { customerListQuery } from './queries.ts';
import { useCustomerListSearch } from './customers-search.ts';

/** The customer list (spec part 1, section 2). Its state and the open dialog are in the URL. */
export function CustomersPage() {
  const { search, change } = useCustomerListSearch();
  const { can } = useAuth();
  return (
    <Page
      title="Customers"
      actions={
        <>
          <TrashLink />
          {can.createCustomers && (
            <>
              <ImportButton onClick={() => change({ dialog: 'import' })} />
              <CreateButton onClick={() => change({ dialog: 'create' })}>Create Customer</CreateButton>
            </>
          )}
        </>
      }
    >
      <CustomerList />
      <LazyDialogs>
        {search.dialog === 'create' && can.createCustomers && (
          <CustomerModal onClose={() => change({ dialog: undefined })} />
        )}
        {search.dialog === 'import' && can.createCustomers && (
          <ImportCustomers onClose={() => change({ dialog: undefined })} />
        )}
        {search.edit && can.updateCustomers && (
          <CustomerModal id={search.edit} onClose={() => change({ edit: undefined })} />
        )}
        {search.policy && can.updatePolicies && (
          <CustomerPolicyModal
            id={search.policy}
            onClose={() => change({ policy: undefined })}
            onTag={(tag) => change({ policy: undefined, tag })}
          />
        )}
        {search.tag && can.updatePolicies && (
          <TagPolicyModal tag={search.tag} onClose={() => change({ tag: undefined })} />
        )}
      </LazyDialogs>
    </Page>
  );
}

/** Link to the recycle bin, with the number of customers in it. */
function TrashLink() {
  const { search } = useCustomerListSearch();
  const { data } = useQuery(customerListQuery(search));
  return (
    <ScreenButton to={paths.customerTrash} leftSection={<IconTrash />}>
      <span>
        Soft Deleted{' '}
        <span style={{ visibility: data ? undefined : 'hidden' }}>({data?.meta.deleted ?? 0})</span>
      </span>
    </ScreenButton>
  );
}
