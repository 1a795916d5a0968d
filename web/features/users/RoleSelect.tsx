import { roleLabel } from '../../../contract/permissions.ts';
import type { ReactNode } from 'react';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { roleWithDescription } from './role-labels.ts';
import { useMe, useRoles } from './use-roles.ts';
import { whyNotGrant } from './user-can.ts';

/** The role of a user, or of a new one; roles that the viewer may not give to that one are disabled, with a reason. */
export function RoleSelect(props: {
  label: string;
  userId?: string;
  value: string;
  error?: ReactNode;
  onChange: (role: string) => void;
}) {
  const { userId, value } = props;
  const me = useMe();
  const roles = useRoles();
  const choices = roles.map((role) => {
    const reason = role.roleId === value ? null : whyNotGrant(me, role, userId);
    const label = roleWithDescription(role);
    return { value: role.roleId, label: reason ? `${label} (${reason})` : label, disabled: reason !== null };
  });
  if (value && !roles.some(({ roleId }) => roleId === value))
    choices.push({ value, label: roleLabel(value), disabled: false });
  return (
    <SearchSelect
      label={props.label}
      required
      placeholder="Select a role"
      nothingFound="No such role"
      data={choices}
      value={value || null}
      error={props.error}
      onChange={(role) => props.onChange(role ?? '')}
    />
  );
}
