import type { License, LicenseTab } from '../../../contract/licenses.ts';
import { PermanentDelete } from '../customers/index.ts';
import type { BulkTarget } from './bulk-queries.ts';
import { BulkChange } from './BulkChange.tsx';
import { BulkEdit, type BulkEditKind } from './BulkEdit.tsx';
import { ChangeState } from './ChangeState.tsx';

/** Actions of the list that need a confirmation. */
export type Asked =
  | { about: 'revoke' | 'reactivate' | 'permanentDelete'; license: License }
  | { about: 'bulk'; licenses: License[] }
  | { about: BulkEditKind; target: BulkTarget };

export default function ListDialogs(props: {
  asked: Asked;
  tab: LicenseTab;
  onClose: () => void;
  onBulkDone: () => void;
}) {
  const { asked, tab, onClose, onBulkDone } = props;
  switch (asked.about) {
    case 'revoke':
    case 'reactivate':
      return <ChangeState change={asked.about} license={asked.license} onClose={onClose} />;
    case 'permanentDelete':
      return (
        <PermanentDelete
          id={asked.license.customerId}
          name={asked.license.customer?.name ?? ''}
          refusal="This customer cannot be deleted at this time."
          onClose={onClose}
        />
      );
    case 'extend':
    case 'modules':
      return <BulkEdit kind={asked.about} target={asked.target} onDone={onBulkDone} onClose={onClose} />;
    case 'bulk':
      return (
        <BulkChange
          kind={tab === 'revoked' ? 'reactivate' : 'revoke'}
          licenses={asked.licenses}
          onDone={onBulkDone}
          onClose={onClose}
        />
      );
  }
}
