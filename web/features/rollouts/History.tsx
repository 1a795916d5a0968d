import type { UseQueryResult } from '@tanstack/react-query';
import type { rollouts } from '../../../contract/rollouts.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { HistoryCard } from '../../HistoryCard.tsx';

type Done = RouteAnswer<typeof rollouts.history>[number];

/** Everything that was done to a release, the newest first. */
export function History({ history }: { history: UseQueryResult<Done[], unknown> }) {
  const lines = history.data?.map((done) => ({ ...done, by: done.by === 'system' ? 'Lanyard' : done.by }));
  return <HistoryCard title="History" query={history} lines={lines} />;
}
