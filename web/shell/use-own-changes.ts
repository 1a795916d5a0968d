import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onChanged } from '../api.ts';
import { isVersioned, withRecord } from '../with-record.ts';

/**
 * Shows what a change made of a record as soon as it is answered: until the lists are asked again, the next press would
 * name the version before, and be refused as if somebody else had been faster.
 */
export function useOwnChanges(): void {
  const queries = useQueryClient().getQueryCache();
  useEffect(() => {
    const show = (record: unknown) => {
      if (!isVersioned(record)) return;
      for (const query of queries.getAll()) {
        const { data, dataUpdatedAt } = query.state;
        const next = withRecord(data, record);
        if (next !== data) query.setData(next, { manual: true, updatedAt: dataUpdatedAt });
      }
    };
    onChanged.add(show);
    return () => void onChanged.delete(show);
  }, [queries]);
}

/** What a dialog was opened with, after changes of this user that were still on their way then. */
export function useWithOwnChanges<Shown>(opened: Shown): Shown {
  const [known, setKnown] = useState({ opened, shown: opened });
  if (known.opened !== opened) setKnown({ opened, shown: opened });
  useEffect(() => {
    const show = (record: unknown) => {
      if (isVersioned(record))
        setKnown((before) => ({ ...before, shown: withRecord(before.shown, record) as Shown }));
    };
    onChanged.add(show);
    return () => void onChanged.delete(show);
  }, []);
  return known.shown;
}
