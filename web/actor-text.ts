/**
 * Who an entry of the audit log says it was. An unauthenticated call has nobody: that of a machine, which takes a seat or
 * enrolls by its license key, or of a person.
 */
export const actorText = (by: string | null, event: string): string =>
  by ?? (event.startsWith('activation.') ? 'Machine' : 'Not signed in');
