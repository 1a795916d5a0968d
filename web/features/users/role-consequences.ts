import type { Role } from '../../../contract/users.ts';
import { permissionName } from '../../../contract/permissions.ts';
import { cellLabel, cellsOf, permissionsOf, type RoleValues } from './role-form.ts';
import { counted } from '../../ui/counted.ts';
import { countText } from '../../ui/numbers.ts';

/** Effects of an edit of a role on other users. */
export type RoleChange = { gained: string[]; lost: string[]; secondFactor: boolean | undefined };
type Impact = { people: number; withoutSecondFactor: number; openRequests: number };

export function changeOf(role: Role, values: RoleValues): RoleChange {
  const before = cellsOf(role.permissions);
  const { requiresSecondFactor } = values;
  return {
    gained: permissionsOf(values.cells)
      .filter((permission) => !before.has(permissionName(permission)))
      .map(cellLabel),
    lost: permissionsOf(before)
      .filter((permission) => !values.cells.has(permissionName(permission)))
      .map(cellLabel),
    secondFactor: requiresSecondFactor === role.requiresSecondFactor ? undefined : requiresSecondFactor,
  };
}

export const isNoticed = ({ gained, lost, secondFactor }: RoleChange): boolean =>
  gained.length > 0 || lost.length > 0 || secondFactor !== undefined;

/** Which users an edit of a role affects from their next call on, and how. */
export function roleSentences({ gained, lost, secondFactor }: RoleChange, impact: Impact): string[] {
  const { people, withoutSecondFactor, openRequests } = impact;
  if (people === 0) return ['No active user has this role.'];
  return [
    people === 1 ? '1 person has this role.' : `${countText(people)} people have this role.`,
    ...(gained.length > 0 ? [`Gained with the next call: ${gained.join(', ')}.`] : []),
    ...(lost.length > 0
      ? [`Lost with the next call, unless another role grants it: ${lost.join(', ')}.`]
      : []),
    ...(lost.length > 0 ? requests(openRequests, 'if they keep the permission') : []),
    ...(secondFactor === true ? [asked(withoutSecondFactor)] : []),
    ...(secondFactor === true && withoutSecondFactor > 0
      ? requests(openRequests, 'once who asked has a second factor')
      : []),
    ...(secondFactor === false ? ['This role no longer asks them for a second factor.'] : []),
  ];
}

const requests = (openRequests: number, when: string) =>
  openRequests > 0
    ? [`${counted(openRequests, 'change')} that they asked for can be approved only ${when}.`]
    : [];

const asked = (without: number) =>
  without === 0
    ? 'All of them have a second factor already.'
    : `${countText(without)} of them ${without === 1 ? 'has' : 'have'} no second factor and may do nothing but set one up, from the next call.`;
