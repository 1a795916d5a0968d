import { roleLabel } from '../../../contract/permissions.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';

/** `super_admin, viewer` as `Super Admin, Viewer`. */
export const rolesText = (roles: string): string => roles.split(', ').map(roleLabel).join(', ');

const shown = 13;

/** The start of a long id. */
export const shortId = (id: string): string => (id.length > shown + 2 ? `${id.slice(0, shown)}…` : id);

const ends = /\.(\w*deleted|deactivated|revoked|removed|purged|reset|password_\w+)$/;
const begins = /\.(created|begun|restored|reactivated|published|completed)$/;

/** Color of an event: failures, endings, beginnings, and the rest. */
export function eventTone(event: string, success: boolean): Tone {
  if (!success) return 'red';
  if (ends.test(event)) return 'orange';
  return begins.test(event) ? 'teal' : 'neutral';
}
