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

type Edit = { before: string[]; after: string[]; isOwnEmail?: boolean };

/** The password for new roles of a user, or another email of one's own, where that needs it. */
export function ProofOfGrant({ before, after, isOwnEmail = false, ...field }: Edit & Field) {
  const roles = useRoles();
  const permissionsOf = (ids: string[]) =>
    roles.filter(({ roleId }) => ids.includes(roleId)).flatMap(({ permissions }) => permissions);
  // the server knows a role as it is now
  const [askedFor, setAskedFor] = useState<string>();
  const asked = after.join();
  if (field.error && askedFor !== asked) setAskedFor(asked);
  const isNeeded =
    isOwnEmail || askedFor === asked || needsProof(permissionsOf(before), permissionsOf(after));
  return isNeeded && <OwnPassword {...field} />;
}
