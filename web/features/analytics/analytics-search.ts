/** What the address of the screen holds: the period, unless it is the week that it starts with. */
export type AnalyticsSearch = { period?: 'month' | 'year' | undefined };

export const analyticsSearch = (params: Record<string, unknown>): AnalyticsSearch => {
  const { period } = params;
  return { period: period === 'month' || period === 'year' ? period : undefined };
};
