import { useQuery } from '@tanstack/react-query';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { roleSentences, type RoleChange } from './role-consequences.ts';
import { roleImpactQuery } from './queries.ts';

/** Users whom the edit of a role affects, shown above the save button. */
export function RoleConsequences({ roleId, change }: { roleId: string; change: RoleChange }) {
  const consequences = useQuery({
    ...roleImpactQuery(roleId),
    select: (impact) => roleSentences(change, impact),
  });
  return <ConsequenceList of={consequences} />;
}
