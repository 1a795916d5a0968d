import { analytics as calls } from '../../../contract/analytics.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import { createAnalytics } from './analytics.ts';

export function analyticsRoutes(context: Context) {
  const analytics = createAnalytics(context);
  return implement(calls, {
    health: ({ by }) => analytics.health(by.now),
    trends: ({ query }) => analytics.trends(query),
    customers: ({ by, query }) => analytics.customers(query, by.now),
  });
}
