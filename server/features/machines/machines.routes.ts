import { machines as calls } from '../../../contract/machines.ts';
import type { Context } from '../../context.ts';
import type { PolicyFinder } from '../policies/index.ts';
import { implement } from '../../http/call.ts';
import { createMachineCount, explainMachine, getMachine, listMachines } from './machines.ts';

export const machineRoutes = ({ db, policyOf }: Pick<Context, 'db'> & { policyOf: PolicyFinder }) => {
  const count = createMachineCount(db);
  return implement(calls, {
    list: ({ query }) => listMachines(db, count, query),
    get: ({ params }) => getMachine(db, params.id),
    explain: ({ by, params }) => explainMachine({ db, policyOf }, params.id, by.now),
  });
};
