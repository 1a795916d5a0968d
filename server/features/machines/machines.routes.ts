import { machineStandings } from '../../../contract/machine-standing.ts';
import { machines as calls } from '../../../contract/machines.ts';
import type { Context } from '../../context.ts';
import type { PolicyFinder } from '../policies/index.ts';
import { implement } from '../../http/call.ts';
import { exportStandings, getStanding, listStandings } from './machine-list.ts';
import { createMachineCount, explainMachine, getMachine, listMachines } from './machines.ts';
import { timelineOf } from './timeline.ts';

export const machineRoutes = (context: Context & { policyOf: PolicyFinder }) => {
  const { db, reports, policyOf } = context;
  const count = createMachineCount(db);
  const states = createMachineCount(reports);
  const standings = implement(machineStandings, {
    list: ({ by, query }) => listStandings(context, { seen: count, states }, by, query),
    exportCsv: async ({ by, query }) => exportStandings({ ...context, db: reports }, by, query),
    get: ({ by, params }) => getStanding(db, by, params.id),
    timeline: ({ by, params, query }) => timelineOf(reports, by, params.id, query),
  });
  const machines = implement(calls, {
    list: ({ query }) => listMachines(query.search ? reports : db, count, query),
    get: ({ by, params }) => getMachine(db, by, params.id),
    explain: ({ by, params }) => explainMachine({ db, policyOf }, by, params.id),
  });
  return [...machines, ...standings];
};
