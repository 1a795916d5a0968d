import { z } from 'zod';
import { dateTime, id, namedObject, requiredLine, seenVersion } from './common.ts';
import type { Resource } from './permissions.ts';
import { route, signedIn } from './route.ts';
import { isStorableText } from './text.ts';

/** The lists that have views, each with the resource that a user must be able to read. */
export const viewLists = {
  licenses: 'licenses',
  customers: 'customers',
  releases: 'releases',
  machines: 'releases',
  users: 'users',
  audit: 'audit',
} as const satisfies Record<string, Resource>;
export type ViewList = keyof typeof viewLists;

const lists = Object.keys(viewLists) as ViewList[];

/** How many views a user may own, of all lists together. */
export const mostViews = 50;
const longestViewName = 60;

const longestQuery = 2000;
const mostParameters = 20;
const parameterName = /^[a-zA-Z]{1,30}$/;

/** The part of a URL after the question mark. */
const viewQuery = z
  .string()
  .max(longestQuery)
  .refine((query) => {
    const names = [...new URLSearchParams(query).keys()];
    return names.length <= mostParameters && names.every((name) => parameterName.test(name));
  }, 'Must be the query of a URL')
  .refine(
    (query) => [...new URLSearchParams(query).values()].every(isStorableText),
    'Contains characters that are not text',
  )
  .transform((query) => new URLSearchParams(query).toString())
  .meta({ description: 'Filters and order as in the URL of the list: `tab=expired&type=trial`' });

/** Filters and order of a list under a name. */
const savedView = namedObject('SavedView', {
  id: z.string(),
  list: z.enum(lists),
  name: z.string(),
  query: z.string(),
  shared: z.boolean().meta({ description: 'Visible to every user who may read the list' }),
  isOwn: z.boolean(),
  ownerName: z.string().nullable().meta({ description: 'Null when the owner was deleted' }),
  mayChange: z.boolean().meta({ description: 'The caller owns the view or may update users' }),
  updatedAt: dateTime,
});
export type SavedView = z.output<typeof savedView>;

const fields = { name: requiredLine(longestViewName), query: viewQuery, shared: z.boolean() };

const byId = z.object({ id });

/** Views belong to users: an API key has none. Each call also requires reading the list of the view. */
export const views = {
  list: route('GET', '/api/v1/views', {
    summary: 'Your own views and the shared ones, of one list or of all lists that you may read',
    access: signedIn,
    query: z.strictObject({ list: z.enum(lists).optional() }),
    answer: z.array(savedView),
  }),
  create: route('POST', '/api/v1/views', {
    summary: 'Save the filters of a list as a view',
    access: signedIn,
    body: z.strictObject({ list: z.enum(lists), ...fields }),
    answer: savedView,
    status: 201,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED'],
  }),
  update: route('PATCH', '/api/v1/views/{id}', {
    summary: 'Change a view: your own, or as someone who may update users also a shared one',
    access: signedIn,
    params: byId,
    body: z.strictObject({ ...fields, updatedAt: seenVersion }).partial(),
    answer: savedView,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED'],
  }),
  delete: route('DELETE', '/api/v1/views/{id}', {
    summary: 'Delete a view',
    access: signedIn,
    params: byId,
    errors: ['RULE_VIOLATED'],
  }),
  restore: route('POST', '/api/v1/views/{id}/restore', {
    summary: 'Undo a deletion, until its owner loses another view',
    access: signedIn,
    params: byId,
    answer: savedView,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED'],
  }),
};
