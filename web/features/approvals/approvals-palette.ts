import { call } from '../../api.ts';
import { approvals } from '../../../contract/approvals.ts';
import { seesApprovals } from '../../../contract/permissions.ts';
import { paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconUserCheck } from '../../ui/icons.tsx';
import { withTimes } from '../../ui/time.ts';

/** Open change requests in the command palette, found by what they change and who asked. */
const approvalsPalette: PaletteSource = {
  group: 'Change requests',
  icon: IconUserCheck,
  resource: 'rollouts',
  needs: seesApprovals,
  find: async (text, signal) => {
    const requests = await call(approvals.list, {}, { signal });
    const wanted = text.toLowerCase();
    return requests
      .filter(({ state }) => state === 'open')
      .map((request) => ({ request, label: `${request.subject}: ${withTimes(request.what)}` }))
      .filter(({ request, label }) =>
        `approve change request ${label} ${request.requestedBy}`.toLowerCase().includes(wanted),
      )
      .slice(0, mostFound)
      .map(({ request, label }) => ({
        id: `approval ${request.id}`,
        label,
        description: `Requested by ${request.requestedBy}`,
        to: paths.approvals,
      }));
  },
};
export default approvalsPalette;
