import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { roleLabel } from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';
import { paths } from '../../paths.ts';
import { setRolePreview } from '../../role-preview.ts';
import { firstReadable } from '../../shell/navigation.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { IconEye } from '../../ui/icons.tsx';

/** Shows the console as users of a role see it, read-only. */
export function SeeAsRole({ role, reason }: { role: Role; reason: string | null }) {
  const navigate = useNavigate();
  const { name, permissions } = role;
  const first = firstReadable(permissions);
  const see = async () => {
    // Navigates first: the role may not be allowed to see this screen.
    await navigate({ to: first?.to ?? paths.account });
    setRolePreview({ role: name, label: roleLabel(name), permissions });
  };
  return (
    <DisabledReason reason={role.roleId === 'service_account' ? 'A service account has no console.' : reason}>
      <Button variant="default" leftSection={<IconEye />} onClick={() => void see()}>
        See the Console as This Role
      </Button>
    </DisabledReason>
  );
}
