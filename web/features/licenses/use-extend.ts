import { extended, type Term } from '../../../contract/license-term.ts';
import { licenseTab } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import { messageOf, refusalOf } from '../../api-error.ts';
import { conflictOf } from '../../edit-conflict.ts';
import { utcDate } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import { aboutLicense, licenseToast } from '../../toast-subjects.ts';
import { useChange } from '../../use-change.ts';
import { updateLicense } from './queries.ts';

type Extension = { license: License; validUntil: string };

/** Sends the end date with the version that the user saw. */
const setEnd = ({ license, validUntil }: Extension) =>
  updateLicense(license.licenseId, { validUntil, updatedAt: license.updatedAt });

const endText = (license: License): string =>
  `${utcDate(license.validUntil)}${licenseTab(license, new Date()) === 'expired' ? ', which is past' : ''}`;

const refused =
  (what: string) =>
  (error: Error, { license }: Extension) => {
    const why = conflictOf(error) ? 'the license was changed meanwhile.' : messageOf(error);
    return toast({ message: refusalOf(what, error, why), subject: aboutLicense(license), tone: 'red' });
  };

/**
 * Extends a license by a term from the date on which it ends, and says so with an Undo. The Undo is refused if the
 * license was changed since.
 */
export function useExtend() {
  const undo = useChange({
    mutationFn: setEnd,
    onSuccess: (license) => toast(licenseToast(license, `ends on ${endText(license)} again`)),
    onError: refused('Not undone'),
  });
  const extend = useChange({
    mutationFn: setEnd,
    onSuccess: (license, { license: { validUntil } }) =>
      toast({
        ...licenseToast(license, `extended to ${endText(license)}`),
        undo: () => undo.mutate({ license, validUntil }),
      }),
    onError: refused('Not extended'),
  });
  return {
    extend: (license: License, term: Term) => {
      const validUntil = extended(license.validUntil, term);
      if (validUntil !== license.validUntil) return extend.mutate({ license, validUntil });
      void toast(licenseToast(license, 'ends on the latest date already'));
    },
    isPending: extend.isPending,
  };
}
