import { PasswordInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { needsProof } from '../../../contract/permissions.ts';
import { passwordError } from '../../password-problem.ts';
import { useRoles } from './use-roles.ts';

type Field = { typed: string | undefined; error: ReactNode; onChange: (typed: string | undefined) => void };

/** The password of the signed-in user: the server requires it unless they signed in a moment ago. */
export function OwnPassword({ typed, error, onChange }: Field) {
  return (
    <PasswordInput
      label="Your Own Password"
      // inputs with a name count as edits of the dialog
      name="currentPassword"
      description="Needed when you signed in more than five minutes ago"
      autoComplete="current-password"
      {...passwordError(error)}
      value={typed ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}

type Edit = { before: string; after: string; isOwnEmail?: boolean };

/** The password for a new role of a user, or another email of one's own, where that needs it. */
export function ProofOfGrant({ before, after, isOwnEmail = false, ...field }: Edit & Field) {
  const roles = useRoles();
  const permissionsOf = (role: string) => roles.find(({ roleId }) => roleId === role)?.permissions ?? [];
  // the server knows a role as it is now
  const [askedFor, setAskedFor] = useState<string>();
  if (field.error && askedFor !== after) setAskedFor(after);
  const isNeeded =
    isOwnEmail || askedFor === after || needsProof(permissionsOf(before), permissionsOf(after));
  return isNeeded && <OwnPassword {...field} />;
}
