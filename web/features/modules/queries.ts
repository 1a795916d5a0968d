import { modules } from '../../../contract/modules.ts';
import { queryOf } from '../../query-of.ts';

export const modulesQuery = queryOf(modules.list);
