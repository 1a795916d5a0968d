import { getRouteApi } from '@tanstack/react-router';
import { idParam, searchOf } from '../../search-params.ts';

/** Search parameter of the page /licenses/new: the id of the customer that the license is for. */
export const newLicenseSearch = searchOf((params) => ({ customer: idParam(params, 'customer') }));

const route = getRouteApi('/signed-in/licenses/new');
export const useNewLicenseSearch = () => newLicenseSearch(route.useSearch());
