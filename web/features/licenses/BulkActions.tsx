import { Button } from '@mantine/core';
import type { License } from '../../../contract/licenses.ts';
import { ExportLink } from '../../ui/ListButtons.tsx';
import { SelectionBar } from '../../ui/SelectionBar.tsx';
import type { BulkTarget } from './bulk-queries.ts';
import type { Asked } from './ListDialogs.tsx';
import { useLicenseSearch } from './licenses-search.ts';
import { licenseExportUrl, tabOf, tickedExportUrl } from './queries.ts';
import { countText } from '../../ui/numbers.ts';

/** What can be done with the ticked licenses, or with all that the filter matches. */
export function BulkActions(props: {
  ticked: License[];
  /** How many licenses the filter matches, and whether they may be chosen instead. */
  total: number;
  mayChooseAll: boolean;
  isAll: boolean;
  onAll: () => void;
  onClear: () => void;
  onAsk: (asked: Asked) => void;
}) {
  const { ticked, total, isAll, onAsk } = props;
  const { search } = useLicenseSearch();
  const isRevokedTab = tabOf(search) === 'revoked';
  const target: BulkTarget = isAll ? { search } : { ids: ticked.map(({ licenseId }) => licenseId) };
  return (
    <SelectionBar count={isAll ? total : ticked.length} onClear={props.onClear}>
      {!isAll && props.mayChooseAll && (
        <Button variant="subtle" onClick={props.onAll}>
          Select All {countText(total)}
        </Button>
      )}
      {!isRevokedTab && (
        <>
          <Button variant="light" onClick={() => onAsk({ about: 'extend', target })}>
            Extend…
          </Button>
          <Button variant="light" onClick={() => onAsk({ about: 'modules', target })}>
            Modules…
          </Button>
        </>
      )}
      {isRevokedTab ? (
        <Button variant="light" onClick={() => onAsk({ about: 'bulkReactivate', target })}>
          Reactivate…
        </Button>
      ) : (
        <Button variant="light" color="red" onClick={() => onAsk({ about: 'bulkRevoke', target })}>
          Revoke…
        </Button>
      )}
      <ExportLink href={isAll ? licenseExportUrl(search) : tickedExportUrl(ticked, search)} />
    </SelectionBar>
  );
}
