import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import { ActivationsModal } from '../activations/index.ts';
import { licenseByKeyQuery } from './queries.ts';

/** The activations of a license that the URL names by its key; the license may be on another page or tab. */
export function LicenseActivations(props: {
  licenseKey: string;
  known: License | undefined;
  onClose: () => void;
}) {
  const { licenseKey, known, onClose } = props;
  const found = useQuery({ ...licenseByKeyQuery(licenseKey), enabled: !known });
  // a change made here may take it from the list before it is found by its key: what is open stays
  const [last, setLast] = useState(known);
  if (known && known !== last) setLast(known);
  const kept = last?.licenseKey === licenseKey ? last : undefined;
  const license = known ?? (found.isSuccess ? found.data : kept);
  return (
    <ActivationsModal
      licenseKey={license?.licenseKey ?? licenseKey}
      license={license ?? undefined}
      onClose={onClose}
    />
  );
}
