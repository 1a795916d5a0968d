import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';

/** Links to the activations of the license, for users who may see licenses. */
export function LicenseLink({ licenseKey }: { licenseKey: string }) {
  const { can } = useAuth();
  if (!can.viewLicenses) return <span className="mono">{licenseKey}</span>;
  return (
    <Anchor
      component={Link}
      to={paths.licenses}
      search={{ search: licenseKey, activations: licenseKey } as never}
      className="mono"
    >
      {licenseKey}
    </Anchor>
  );
}
