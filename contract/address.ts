import type { Route } from './route.ts';

/** A call as change requests name it: `PATCH /api/v1/updates/admin/releases/{releaseId}`. */
export const callName = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

/** What the address of a call holds of its request. */
type Addressed = { params?: Record<string, string>; query?: Record<string, unknown> };

/** The address of a call. Query parameters that are undefined, null or empty are left out. */
export function addressOf(
  { path }: Pick<Route, 'path'>,
  { params = {}, query = {} }: Addressed = {},
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => (value ?? '') !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${filled}?${search}` : filled;
}
