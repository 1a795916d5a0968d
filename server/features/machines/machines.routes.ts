import { machines as calls } from '../../../contract/machines.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import { createMachineCount, explainMachine, getMachine, listMachines } from './machines.ts';

export const machineRoutes = ({ db }: Context) => {
  const count = createMachineCount(db);
  return implement(calls, {
    list: ({ query }) => listMachines(db, count, query),
    get: ({ params }) => getMachine(db, params.id),
    explain: ({ params }) => explainMachine(db, params.id),
  });
};
