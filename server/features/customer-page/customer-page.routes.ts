import { customerPage as calls } from '../../../contract/customer-page.ts';
import type { Context } from '../../context.ts';
import { implement } from '../../http/call.ts';
import type { ReleaseSet } from '../releases/index.ts';
import { exportCustomer } from './export.ts';
import { listMachines } from './machines.ts';
import { overviewOf } from './overview.ts';
import { listTimeline } from './timeline.ts';

export const customerPageRoutes = (context: Context & { releaseSet: ReleaseSet }) => {
  const { reports } = context;
  const onReports = { ...context, db: reports };
  return implement(calls, {
    overview: ({ by, params }) => overviewOf(onReports, by, params.id),
    machines: ({ by, params, query }) => listMachines(reports, by, params.id, query),
    timeline: ({ params, query }) => listTimeline(onReports, params.id, query),
    export: ({ by, params }) => exportCustomer(onReports, by, params.id),
  });
};
