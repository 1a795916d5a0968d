import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../../../contract/users.ts';
import { fieldErrors, sentenceOf } from '../../api-error.ts';
import { useKept } from '../../kept-work.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { OwnPassword } from './OwnPassword.tsx';
import SessionList from './SessionList.tsx';
import { useMe } from './use-roles.ts';
import { endUserSession, resetSecondFactor, usersQuery, userSessionsQuery } from './queries.ts';
import { aboutUser } from '../../toast-subjects.ts';

/** The sessions of a user, and their second factor. */
export default function UserSessions({ user, onClose }: { user: User; onClose: () => void }) {
  const me = useMe();
  const isOwn = me.userId === user.id;
  return (
    <Dialog size={840} title={`Sessions of ${user.name || user.email}`} onClose={onClose}>
      <Stack gap="lg">
        {me.isSuperAdmin || isOwn ? (
          <OpenSessions user={user} />
        ) : (
          <Text>Only a super admin sees and ends the sessions of others.</Text>
        )}
        <SecondFactor
          user={user}
          own={isOwn ? 'Remove your own second factor on your account page.' : null}
        />
      </Stack>
    </Dialog>
  );
}

function OpenSessions({ user }: { user: User }) {
  const sessions = useQuery(userSessionsQuery(user.id));
  const end = useChange({
    mutationFn: (sessionId: string) => endUserSession(user.id, sessionId),
    onSuccess: () => toast({ message: 'Session ended successfully', subject: aboutUser(user) }),
  });
  if (sessions.isLoadingError) {
    return <ErrorText>{sentenceOf(sessions.error, 'Failed to fetch sessions')}</ErrorText>;
  }
  return (
    <>
      <SessionList sessions={sessions.data} end={end} />
      {end.error && <ErrorText>{sentenceOf(end.error, 'Failed to end session')}</ErrorText>}
    </>
  );
}

function SecondFactor(props: {
  user: User;
  /** Why users cannot reset their own here; null for other users. */
  own: string | null;
}) {
  const { user, own } = props;
  /** About the version of the user that is shown: they may set up another factor while it is asked. */
  const [asking, setAsking] = useKept<{ updatedAt: string }>('open: reset second factor');
  // The current state: the list row that opened the dialog is out of date after a reset.
  const list = useQuery(usersQuery(undefined));
  const { secondFactor, updatedAt } = list.data?.find(({ id }) => id === user.id) ?? user;
  const [currentPassword, setCurrentPassword] = useState<string>();
  const reset = useChange({
    mutationFn: (shown: { updatedAt: string }) => resetSecondFactor(user.id, { currentPassword, ...shown }),
    onSuccess: () => {
      setAsking(undefined);
      void toast({ message: 'Second factor reset successfully', subject: aboutUser(user) });
    },
  });
  const ask = () => {
    reset.reset();
    setCurrentPassword(undefined);
    setAsking({ updatedAt });
  };
  return (
    <Stack gap={6}>
      <Title order={3} fz={13}>
        Second factor
      </Title>
      <Group justify="space-between" gap="xs">
        <Text>
          {secondFactor
            ? 'Set up. Reset it when the phone and the recovery codes are lost.'
            : 'This user signs in with the password alone.'}
        </Text>
        {secondFactor && (
          <DisabledReason reason={own}>
            <Button variant="default" onClick={ask}>
              Reset Second Factor
            </Button>
          </DisabledReason>
        )}
      </Group>
      {asking && (
        <ConfirmDialog
          title="Reset Second Factor"
          message={`Reset the second factor of ${user.name || user.email}?`}
          consequences={['One user: until they set up another, the password alone signs them in.']}
          confirmLabel="Reset"
          enterConfirms
          busy={reset.isPending}
          error={reset.error ? sentenceOf(reset.error, 'Failed to reset second factor of user') : undefined}
          onConfirm={() => reset.mutate(asking)}
          onClose={() => setAsking(undefined)}
        >
          <OwnPassword
            typed={currentPassword}
            // the dialog says what is wrong
            error={'currentPassword' in fieldErrors(reset.error)}
            onChange={setCurrentPassword}
          />
        </ConfirmDialog>
      )}
    </Stack>
  );
}
