import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { customerRefusal, type Customer } from '../../../contract/customers.ts';
import type { CustomerOverview } from '../../../contract/customer-page.ts';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { RecordPage } from '../../shell/RecordPage.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { ActiveBadge, StatusBadge, toneColors } from '../../ui/StatusBadge.tsx';
import { DownloadLink } from '../../ui/ListButtons.tsx';
import { useNow } from '../../ui/use-now.ts';
import { CustomerModal, ReactivateCustomer } from '../customers/index.ts';
import { LicenseActivations, LicenseModal, LicensesOfCustomer } from '../licenses/index.ts';
import { CustomerPolicyModal, TagPolicyModal } from '../policies/index.ts';
import { CustomerMachines } from './CustomerMachines.tsx';
import { CustomerReleases } from './CustomerReleases.tsx';
import classes from './customer-page.module.css';
import { Contact, Figures } from './Figures.tsx';
import { exportUrl, overviewQuery } from './queries.ts';
import { RefusedValidations } from './RefusedValidations.tsx';
import { Timeline } from './Timeline.tsx';
import { route, useCustomerSearch } from './customer-search.ts';
import { verdictOf } from './verdict.ts';

/** Everything about one customer: its licenses, machines, refused validations, updates, and what was done to it. */
export function CustomerPage() {
  const { customerId } = route.useParams();
  const { can } = useAuth();
  const { search, change } = useCustomerSearch();
  const overview = useQuery(overviewQuery(customerId));
  const customer = overview.data?.customer;
  return (
    <RecordPage
      what="customer"
      query={overview}
      back={{ to: paths.customers, label: 'Customers' }}
      whyMissing="It may have been permanently deleted."
      title={customer?.name}
      note={overview.data && <Badges overview={overview.data} />}
      actions={customer && <Actions overview={overview.data} />}
    >
      {(found) => (
        <>
          <Verdict overview={found} />
          <Contact customer={found.customer} />
          <Figures overview={found} />
          {can.viewLicenses && (
            <>
              <LicensesOfCustomer
                customerId={customerId}
                search={search}
                change={change}
                onIssue={
                  can.createLicenses && !found.customer.deletedAt
                    ? () => change({ dialog: 'license' })
                    : undefined
                }
                onOpen={(license) => change({ license: license.licenseId })}
                onActivations={(license) => change({ activations: license.licenseKey })}
              />
              <CustomerMachines customerId={customerId} />
            </>
          )}
          {found.refused && <RefusedValidations refused={found.refused} />}
          <CustomerReleases overview={found} />
          {can.viewAudit && <Timeline customerId={customerId} />}
          <Dialogs overview={found} />
        </>
      )}
    </RecordPage>
  );
}

const Badges = ({ overview: { customer, tags } }: { overview: CustomerOverview }) => (
  <span className={classes.badges}>
    {customer.deletedAt ? (
      <StatusBadge tone="red">Deleted</StatusBadge>
    ) : (
      <ActiveBadge status={customer.status} />
    )}
    {tags.map((tag) => (
      <StatusBadge key={tag} tone="neutral">
        {tag}
      </StatusBadge>
    ))}
  </span>
);

function Verdict({ overview }: { overview: CustomerOverview }) {
  const verdict = verdictOf(overview, useNow());
  const { can } = useAuth();
  // as it was shown then: a colleague may have restored it and deleted it again behind the dialog
  const [toRestore, setToRestore] = useKept<Customer>('open: restore the customer of a page');
  const { customer } = overview;
  return (
    <>
      {verdict && (
        <div className={classes.verdict} style={toneColors(verdict.tone)}>
          <span aria-live="polite">{verdict.sentence}</span>
          {customer.deletedAt && can.updateCustomers && (
            <Button size="compact-sm" variant="default" onClick={() => setToRestore(customer)}>
              Reactivate
            </Button>
          )}
        </div>
      )}
      <LazyDialogs>
        {toRestore && <ReactivateCustomer customer={toRestore} onClose={() => setToRestore(undefined)} />}
      </LazyDialogs>
    </>
  );
}

function Actions({ overview }: { overview: CustomerOverview | undefined }) {
  const { can } = useAuth();
  const { change } = useCustomerSearch();
  if (!overview) return null;
  const { customer } = overview;
  const isOpenToEdits = customerRefusal.update(customer) === null;
  return (
    <>
      <DownloadLink href={exportUrl(customer.customerId)}>Export</DownloadLink>
      {can.updatePolicies && isOpenToEdits && (
        <Button variant="default" onClick={() => change({ dialog: 'policy' })}>
          Updates
        </Button>
      )}
      {can.updateCustomers && isOpenToEdits && (
        <Button variant="default" onClick={() => change({ dialog: 'edit' })}>
          Edit
        </Button>
      )}
    </>
  );
}

/** The dialogs that the URL can open. */
function Dialogs({ overview: { customer } }: { overview: CustomerOverview }) {
  const { can } = useAuth();
  const { search, change } = useCustomerSearch();
  const { customerId } = customer;
  const close = () => change({ dialog: undefined });
  return (
    <LazyDialogs>
      {search.dialog === 'edit' && can.updateCustomers && <CustomerModal id={customerId} onClose={close} />}
      {search.dialog === 'policy' && can.updatePolicies && (
        <CustomerPolicyModal
          id={customerId}
          onClose={close}
          onTag={(tag) => change({ dialog: undefined, tag })}
        />
      )}
      {search.tag && can.updatePolicies && (
        <TagPolicyModal tag={search.tag} onClose={() => change({ tag: undefined })} />
      )}
      {search.dialog === 'license' && can.createLicenses && (
        <LicenseModal customerId={customerId} onClose={close} />
      )}
      {search.license && (
        <LicenseModal
          key={search.license}
          id={search.license}
          onClose={() => change({ license: undefined })}
        />
      )}
      {search.activations && (
        <LicenseActivations
          licenseKey={search.activations}
          known={undefined}
          onClose={() => change({ activations: undefined })}
        />
      )}
    </LazyDialogs>
  );
}
