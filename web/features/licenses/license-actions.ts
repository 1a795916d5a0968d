import { extensions, type Term } from '../../../contract/license-term.ts';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import type { RowActionList } from '../../ui/row-actions.ts';

/** What a dialog asks for before it is done, or a form. */
export type AskedOfLicense = 'revoke' | 'reactivate' | 'transfer' | 'similar';

type Handlers = {
  can: { createLicenses: boolean; updateLicenses: boolean };
  /** Where the license is in a list. */
  onPage?: (license: License) => void;
  onActivations: (license: License) => void;
  /** Opens the dialog of the license, which is read-only where editing is not allowed. */
  onOpen: (license: License) => void;
  onAsk: (about: AskedOfLicense, license: License) => void;
  onExtend: (license: License, term: Term) => void;
};

const extensionKeys = { '+30 days': 'd', '+1 year': 'y' } as const;

/** Why the license has no actions but its activations: its customer is deleted (spec part 1, section 2). */
export const whyOnlyActivations = (license: License): string | null =>
  license.status === 'revoked' ? licenseRefusal.reactivate(license) : licenseRefusal.revoke(license);

/** The actions of a license in the list. */
export function licenseActions(license: License, { can, ...on }: Handlers): RowActionList {
  const mayUpdate = can.updateLicenses;
  const isRevoked = license.status === 'revoked';
  const shared = { inRow: true, reason: whyOnlyActivations(license) };
  return [
    { label: 'Activations', key: 'a', inRow: true, run: () => on.onActivations(license) },
    on.onPage && { label: 'Open Page', key: 'Enter', run: () => on.onPage?.(license) },
    { ...shared, label: mayUpdate && !isRevoked ? 'Edit' : 'View', key: 'e', run: () => on.onOpen(license) },
    ...extensions.map(
      ({ label, term }) =>
        mayUpdate && {
          label,
          key: extensionKeys[label],
          atOnce: true,
          reason: licenseRefusal.update(license),
          run: () => on.onExtend(license, term),
        },
    ),
    mayUpdate && {
      label: 'Transfer',
      key: 't',
      reason: licenseRefusal.transfer(license),
      run: () => on.onAsk('transfer', license),
    },
    can.createLicenses && {
      label: 'Issue Similar',
      key: 's',
      reason: whyOnlyActivations(license),
      run: () => on.onAsk('similar', license),
    },
    mayUpdate &&
      (isRevoked
        ? { ...shared, label: 'Reactivate', key: 'r', run: () => on.onAsk('reactivate', license) }
        : { ...shared, label: 'Revoke', key: 'r', danger: true, run: () => on.onAsk('revoke', license) }),
  ];
}
