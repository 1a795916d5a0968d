import { searchOf, wordParam } from '../../search-params.ts';

/** Search parameters of the screen: the period, unless it is the default week. */
export const analyticsSearch = searchOf((params) => ({
  period: wordParam(params, 'period', ['month', 'year']),
}));
