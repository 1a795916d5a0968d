import type { License } from '../contract/licenses.ts';
import { roleLabel } from '../contract/permissions.ts';
import { customerPath, licensePath, paths, releasePath } from './paths.ts';
import { counted } from './ui/counted.ts';
import type { ToastSubject } from './ui/toast.tsx';

/*
 * What toasts are about, with the path of its page, or of its row in the list.
 */

const listPath = (path: string, search: Record<string, string>): string =>
  `${path}?${new URLSearchParams(search)}`;

type NamedLicense = Pick<License, 'licenseId' | 'licenseKey' | 'customer'>;

/** `E4YJG-… for Charité` */
export const aboutLicense = (license: NamedLicense): ToastSubject => ({
  name: license.customer ? `${license.licenseKey} for ${license.customer.name}` : license.licenseKey,
  to: licensePath(license.licenseId),
  id: license.licenseId,
});

/** `License E4YJG-… for Charité revoked`, with `what` happened to it. */
export function licenseToast(
  license: NamedLicense,
  what: string,
): { message: string; subject: ToastSubject } {
  const subject = aboutLicense(license);
  return { message: `License ${subject.name} ${what}`, subject };
}

/** A machine on a license, of which only the key is known. */
export const aboutSeat = (licenseKey: string, machineId: string): ToastSubject => ({
  name: machineId,
  to: listPath(paths.licenses, { activations: licenseKey }),
});

type NamedCustomer = { customerId: string; name: string };

export const aboutCustomer = ({ customerId, name }: NamedCustomer): ToastSubject => ({
  name,
  to: customerPath(customerId),
  id: customerId,
});

export const aboutCustomers = (customers: readonly NamedCustomer[]): ToastSubject =>
  aboutAll(customers, paths.customers, ({ customerId }) => customerPath(customerId));

export const aboutDeletedCustomers = (customers: readonly NamedCustomer[]): ToastSubject =>
  aboutAll(customers, paths.customerTrash, ({ name }) => listPath(paths.customerTrash, { search: name }));

function aboutAll(
  customers: readonly NamedCustomer[],
  path: string,
  pathOf: (customer: NamedCustomer) => string,
): ToastSubject {
  const [first] = customers;
  return first && customers.length === 1
    ? { name: first.name, to: pathOf(first), id: first.customerId }
    : {
        name: counted(customers.length, 'customer'),
        to: path,
        id: customers.map(({ customerId }) => customerId).join(' '),
      };
}

export const aboutRelease = ({ id, version }: { id: string; version: string }): ToastSubject => ({
  name: version,
  to: releasePath(id),
  id,
});

export const aboutApproval = ({ subject }: { subject: string }): ToastSubject => ({
  name: subject,
  to: paths.approvals,
});

export const aboutChannel = (channel: string): ToastSubject => ({
  name: `Channel ${channel}`,
  to: paths.approvals,
});

export const aboutUser = ({ email }: { email: string }): ToastSubject => ({
  name: email,
  to: listPath(paths.users, { search: email }),
});

export const aboutRole = (roleId: string): ToastSubject => ({
  name: roleLabel(roleId),
  to: listPath(paths.users, { tab: 'roles', role: roleId }),
});

export const aboutApiKey = ({ id, name }: { id: string; name: string }): ToastSubject => ({
  name,
  to: listPath(paths.apiKeys, { key: id }),
  id,
});

export const aboutAccount: ToastSubject = { name: 'Your account', to: paths.account };
