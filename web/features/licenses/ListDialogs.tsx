import type { License } from '../../../contract/licenses.ts';
import { PermanentDelete } from '../customers/index.ts';
import type { BulkTarget } from './bulk-queries.ts';
import { BulkEdit } from './BulkEdit.tsx';
import { ChangeState } from './ChangeState.tsx';
import { LicenseModal } from './lazy.ts';
import type { AskedOfLicense } from './license-actions.ts';
import TransferLicense from './TransferLicense.tsx';

const bulk = {
  extend: 'extend',
  modules: 'modules',
  bulkRevoke: 'revoke',
  bulkReactivate: 'reactivate',
} as const;

/** Actions of licenses that need a dialog which the URL does not open. */
export type Asked =
  | { about: AskedOfLicense | 'permanentDelete'; license: License }
  | { about: keyof typeof bulk; target: BulkTarget };

export default function ListDialogs(props: { asked: Asked; onClose: () => void; onBulkDone?: () => void }) {
  const { asked, onClose, onBulkDone = () => {} } = props;
  switch (asked.about) {
    case 'revoke':
    case 'reactivate':
      return <ChangeState change={asked.about} license={asked.license} onClose={onClose} />;
    case 'transfer':
      return <TransferLicense license={asked.license} onClose={onClose} />;
    case 'similar':
      return <LicenseModal like={asked.license} onClose={onClose} />;
    case 'permanentDelete':
      return (
        <PermanentDelete
          id={asked.license.customerId}
          name={asked.license.customer?.name ?? ''}
          refusal="This customer cannot be deleted at this time."
          onClose={onClose}
        />
      );
    default:
      return (
        <BulkEdit kind={bulk[asked.about]} target={asked.target} onDone={onBulkDone} onClose={onClose} />
      );
  }
}
