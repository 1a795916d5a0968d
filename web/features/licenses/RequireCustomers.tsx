import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useBegun } from '../../kept-work.ts';
import { LoadError } from '../../LoadError.tsx';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { IconLock } from '../../ui/icons.tsx';
import { ScreenLink } from '../../ui/ScreenLink.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { customerChoicesQuery } from '../customers/index.ts';

/** Height of the fields of the license form, in pixels. */
export const formHeights = [48, 48, 48, 150];

/**
 * A license needs a customer: the form for a new one appears only when there are customers, and stays with what was typed
 * when the last of them is deleted meanwhile. `formKey`: of the form.
 */
export function RequireCustomers({ formKey, children }: { formKey: string; children: ReactNode }) {
  const { can } = useAuth();
  const customers = useQuery({ ...customerChoicesQuery(''), enabled: can.viewCustomers });
  const begun = useBegun(formKey, can.viewCustomers && (customers.data?.data.length ?? 0) > 0);
  if (begun) return children;
  if (!can.viewCustomers) {
    return (
      <EmptyState title="You may not see customers" icon={<IconLock size={28} stroke={1.25} />}>
        A license is issued to a customer. Ask an administrator for the permission customers:read.
      </EmptyState>
    );
  }
  if (customers.data) return <NoCustomers />;
  if (customers.isError) {
    return <LoadError title="Failed to load customers" query={customers} />;
  }
  return <FormSkeleton heights={formHeights} />;
}

function NoCustomers() {
  const { can } = useAuth();
  return (
    <EmptyState
      title="No Customers Found"
      action={
        can.createCustomers && (
          <ScreenLink to={paths.customers} search={{ dialog: 'create' }}>
            Create a customer
          </ScreenLink>
        )
      }
    >
      Please create a customer before creating a license.
      {!can.createCustomers && ' You lack the permission customers:create: ask an administrator.'}
    </EmptyState>
  );
}
