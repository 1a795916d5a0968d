/** Search parameters of the screen: the period, unless it is the default week. */
type AnalyticsSearch = { period?: 'month' | 'year' | undefined };

export const analyticsSearch = (params: Record<string, unknown>): AnalyticsSearch => {
  const { period } = params;
  return { period: period === 'month' || period === 'year' ? period : undefined };
};
