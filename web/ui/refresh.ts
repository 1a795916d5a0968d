import type { Query, QueryClient } from '@tanstack/react-query';

const isGrowing = ({ state }: Query) => state.fetchStatus !== 'idle' && Boolean(state.fetchMeta?.fetchMore);

/** Asks again for all that is shown; for a list whose older entries are on their way once they came: it would drop them. */
export async function refresh(client: QueryClient): Promise<void> {
  const growing = client.getQueryCache().findAll({ predicate: isGrowing });
  const others = client.invalidateQueries({ predicate: (query) => !growing.includes(query) });
  await Promise.allSettled(growing.map(async ({ promise }) => promise));
  await client.invalidateQueries({ predicate: (query) => growing.includes(query) });
  await others;
}
