import { useQuery } from '@tanstack/react-query';
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
  const license = known ?? found.data;
  return (
    <ActivationsModal
      licenseKey={license?.licenseKey ?? licenseKey}
      license={license ?? undefined}
      onClose={onClose}
    />
  );
}
