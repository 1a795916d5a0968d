import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { License } from '../../../contract/licenses.ts';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { RecordPage } from '../../shell/RecordPage.tsx';
import { Card } from '../../ui/Card.tsx';
import { CopyIcon } from '../../ui/CopyText.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import { inOrder } from '../../ui/row-actions.ts';
import { useSearch } from '../../use-search.ts';
import { ActivationsModal, LicenseMachines, SeatUsage } from '../activations/index.ts';
import { RecordHistory } from '../audit/index.ts';
import { ModulesByCategory } from '../modules/index.ts';
import { licenseActions, type AskedOfLicense } from './license-actions.ts';
import { CustomerCell, StateBadge, TypeBadge } from './license-cells.tsx';
import type { LicensePageSearch } from './licenses-search.ts';
import { LicenseValidations } from './LicenseValidations.tsx';
import { licensePageQuery } from './queries.ts';
import { useExtend } from './use-extend.ts';
import { ValidityLine } from './ValidityLine.tsx';
import { LicenseModal } from './lazy.ts';
import { ListDialogs } from './LazyListDialogs.tsx';

const route = getRouteApi('/signed-in/licenses/$licenseId');

/** Everything about one license, beside the dialogs of the list. */
export function LicensePage() {
  const { licenseId } = route.useParams();
  const query = useQuery(licensePageQuery(licenseId));
  const license = query.data;
  return (
    <RecordPage
      what="license"
      query={query}
      back={{ to: paths.licenses, label: 'Licenses' }}
      whyMissing="It may have been deleted."
      title="License"
      name={license?.licenseKey}
      note={license && <span className="mono">{license.licenseKey}</span>}
      beside={
        license && (
          <CopyIcon
            value={license.licenseKey}
            name={`license key ${license.licenseKey}`}
            hint="Copy license key"
          />
        )
      }
      actions={license && <Actions license={license} />}
    >
      {(loaded) => (
        <>
          <Card title="Seats and Modules">
            <Facts
              facts={{
                Customer: <CustomerCell {...loaded} />,
                Type: <TypeBadge type={loaded.type} />,
                Status: <StateBadge license={loaded} />,
                Seats: <SeatUsage used={loaded.currentActivations} max={loaded.maxActivations} />,
                'Last changed': <ExactTime value={loaded.updatedAt} />,
                Modules: <ModulesByCategory moduleIds={loaded.moduleIds} />,
              }}
            />
          </Card>
          <ValidityLine license={loaded} />
          <LicenseMachines licenseKey={loaded.licenseKey} />
          <LicenseValidations licenseId={licenseId} />
          <RecordHistory resourceType="license" resourceId={licenseId} />
        </>
      )}
    </RecordPage>
  );
}

type Asked = { about: AskedOfLicense; license: License };

/** The actions of the list as buttons, with its dialogs. */
function Actions({ license }: { license: License }) {
  const { can } = useAuth();
  const { search, change } = useSearch<LicensePageSearch>(route, { dialogs: ['dialog'] });
  // with the license as it was shown then: another user may have changed it behind the dialog
  const [asked, setAsked] = useKept<Asked>('open: action of a license page');
  const { extend } = useExtend();
  const actions = licenseActions(license, {
    can,
    onActivations: () => change({ dialog: 'activations' }),
    onOpen: () => change({ dialog: 'edit' }),
    onAsk: (about, shown) => setAsked({ about, license: shown }),
    onExtend: extend,
  });
  const close = () => change({ dialog: undefined });
  return (
    <>
      {inOrder(actions).map(({ label, reason, danger, run }) => (
        <DisabledReason key={label} reason={reason ?? null}>
          <Button
            variant={danger ? 'light' : 'default'}
            {...(danger && { color: 'red' })}
            {...(run && pressOnce(run))}
          >
            {label}
          </Button>
        </DisabledReason>
      ))}
      <LazyDialogs>
        {search.dialog === 'edit' && <LicenseModal id={license.licenseId} onClose={close} />}
        {search.dialog === 'activations' && (
          <ActivationsModal licenseKey={license.licenseKey} license={license} onClose={close} />
        )}
      </LazyDialogs>
      {asked && <ListDialogs asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
