import { Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, type ReactNode } from 'react';
import { LoadError } from '../../LoadError.tsx';
import { sentenceOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Page } from '../../ui/Page.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { toast } from '../../ui/toast.tsx';
import { SessionList } from '../users/index.ts';
import { useChange } from '../../use-change.ts';
import classes from './account.module.css';
import { endOtherSessions, endSession, ownSessionsQuery } from './queries.ts';
import { FirstScreen } from './FirstScreen.tsx';
import { ChangePassword } from './ChangePassword.tsx';
import { SecondFactor } from './SecondFactor.tsx';
import { aboutAccount } from '../../toast-subjects.ts';

/** The user's own account: password, second factor, sessions. */
export function AccountPage() {
  const { user } = useAuth();
  return (
    <Page title="Account" note={user?.email}>
      <Scroller label="Account">
        <Section title="Password" about="Sessions elsewhere end when you change it.">
          <ChangePassword />
        </Section>
        <Section
          title="Second factor"
          about="A code of an authenticator app, required in addition to the password when you sign in."
        >
          <SecondFactor />
        </Section>
        <Section title="Start" about="What opens when you sign in, or choose Lanyard at the top left.">
          <FirstScreen />
        </Section>
        <Section
          title="Sessions"
          about="Where you are signed in. End sessions that you do not recognize, and change your password."
        >
          <OwnSessions />
        </Section>
      </Scroller>
    </Page>
  );
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <Title order={2} fz={14} lh="1.25rem">
        {title}
      </Title>
      <p className={classes.about}>{about}</p>
      {children}
    </section>
  );
}

/** Instead of the id of a session. */
const others = 'others';

function OwnSessions() {
  const sessions = useQuery(ownSessionsQuery);
  const end = useChange({
    mutationFn: (which: string) => (which === others ? endOtherSessions() : endSession(which)),
    onSuccess: (_, which) =>
      toast({
        message: `${which === others ? 'Other sessions' : 'Session'} ended successfully`,
        subject: aboutAccount,
      }),
  });
  if (sessions.isLoadingError) return <LoadError title="Failed to fetch sessions" query={sessions} brief />;
  return (
    <Suspense>
      <SessionList sessions={sessions.data} end={end} />
      {(sessions.data?.length ?? 0) > 1 && (
        <Button
          variant="default"
          mt="sm"
          loading={end.isPending && end.variables === others}
          onClick={() => end.mutate(others)}
        >
          End All Others
        </Button>
      )}
      {end.error && <ErrorText>{sentenceOf(end.error, 'Failed to end session')}</ErrorText>}
    </Suspense>
  );
}
