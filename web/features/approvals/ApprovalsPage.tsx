import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Text } from '@mantine/core';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import { useKept } from '../../kept-work.ts';
import { Loaded } from '../../LoadError.tsx';
import { paths } from '../../paths.ts';
import { RecordLink, UserLink } from '../../shell/RecordLink.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { Card } from '../../ui/Card.tsx';
import { FilterNote } from '../../ui/FilterNote.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { Page } from '../../ui/Page.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { EmptyState } from '../../ui/states.tsx';
import { withTimes } from '../../ui/time.ts';
import classes from './approvals.module.css';
import type { ApprovalsSearch } from './approvals-search.ts';
import { Channels } from './Channels.tsx';
import { requestsQuery } from './queries.ts';
import { RequestCard, State } from './RequestCard.tsx';

const ApproveRequest = lazyPart(() => import('./ApproveRequest.tsx'));
const DeclineRequest = lazyPart(() => import('./DeclineRequest.tsx'));

const route = getRouteApi('/signed-in/releases/approvals');

const inWords = (requests: ChangeRequest[]) =>
  requests.map((request) => ({ ...request, what: withTimes(request.what) }));

type Deciding = { decision: 'approve' | 'decline'; request: ChangeRequest };

/** Changes that wait for a second person, those of the last days, and which channels require approvals. */
export function ApprovalsPage() {
  const search: ApprovalsSearch = route.useSearch();
  const navigate = route.useNavigate();
  const requests = useQuery({ ...requestsQuery(search), select: inWords });
  const [deciding, decide] = useKept<Deciding>('open: decide change request');
  const close = () => decide(undefined);
  const open = requests.data?.filter(({ state }) => state === 'open');
  const recent = requests.data?.filter(({ state }) => state !== 'open') ?? [];
  return (
    <Page
      title="Approvals"
      back={{ to: paths.releases, label: 'Back to Releases' }}
      actions={<AsOf queries={[requests]} />}
    >
      <Scroller label="Approvals">
        <div className={classes.stack}>
          {search.waiting && (
            <FilterNote onClear={() => void navigate({ search: {} })}>
              Only requests that wait for your approval
            </FilterNote>
          )}
          <Loaded query={requests} title="Failed to load change requests">
            {!open ? (
              <FormSkeleton heights={[140]} />
            ) : open.length === 0 ? (
              <EmptyState
                title={search.waiting ? 'Nothing waits for your approval' : 'Nothing waits for approval'}
                onClear={search.waiting ? () => void navigate({ search: {} }) : undefined}
              >
                A change that needs a second person appears here when somebody asks for it.
              </EmptyState>
            ) : (
              open.map((request) => (
                <RequestCard
                  key={request.id}
                  request={request}
                  onApprove={() => decide({ decision: 'approve', request })}
                  onDecline={() => decide({ decision: 'decline', request })}
                />
              ))
            )}
          </Loaded>
          {recent.length > 0 && <Recent requests={recent} />}
          <Channels />
        </div>
      </Scroller>
      <LazyDialogs>
        {deciding?.decision === 'approve' && <ApproveRequest request={deciding.request} onClose={close} />}
        {deciding?.decision === 'decline' && <DeclineRequest request={deciding.request} onClose={close} />}
      </LazyDialogs>
    </Page>
  );
}

function Recent({ requests }: { requests: ChangeRequest[] }) {
  return (
    <Card title="Last 7 days">
      <ul className={classes.recent}>
        {requests.map((request) => (
          <li key={request.id}>
            <div>
              {request.releaseId ? (
                <RecordLink kind="release" id={request.releaseId} inherit>
                  {request.subject}
                </RecordLink>
              ) : (
                request.subject
              )}
              : {request.what}
              <Text c="dimmed" size="sm">
                Requested by <UserLink by={request.requestedBy} inherit />{' '}
                <RelativeTime value={request.requestedAt} />
                {request.decidedBy && request.state !== 'withdrawn' && (
                  <>
                    , {request.state} by <UserLink by={request.decidedBy} inherit />
                  </>
                )}
                {request.reason && `: ${request.reason}`}
              </Text>
            </div>
            <State request={request} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
