import { modules as calls } from '../../../contract/modules.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import { listModules } from './modules.ts';

export const moduleRoutes = ({ db }: Context) => implement(calls, { list: () => listModules(db) });
