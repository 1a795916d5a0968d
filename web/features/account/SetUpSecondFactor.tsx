import { Anchor, Button, Center, Group, Modal, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState, type FormEvent } from 'react';
import { useAuth } from '../../session.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { FormEnd } from '../../ui/FormEnd.tsx';
import { formText } from '../../ui/form-text.ts';
import { problemOf } from '../users/users.ts';
import classes from './account.module.css';
import { confirmSecondFactor, enrollSecondFactor } from './account.ts';
import { inGroups } from './in-groups.ts';
import { PasswordField } from './PasswordField.tsx';
import { RecoveryCodes } from './RecoveryCodes.tsx';

const QrCode = lazy(() => import('./QrCode.tsx'));

type Secret = { secret: string; otpauthUrl: string };

/** Password, then the app and a code of it, then the recovery codes, which are shown this once. */
export default function SetUpSecondFactor({ onClose }: { onClose: () => void }) {
  const { refreshRights } = useAuth();
  const [secret, setSecret] = useState<Secret>();
  const [codes, setCodes] = useState<string[]>();
  const done = codes !== undefined;
  return (
    <Modal
      opened
      onClose={onClose}
      title={done ? 'Recovery codes' : 'Set up a second factor'}
      // What is shown once is not closed by a slip.
      closeOnClickOutside={false}
      closeOnEscape={!done}
      withCloseButton={!done}
    >
      {done ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : secret ? (
        <ProveApp
          secret={secret}
          onDone={(recoveryCodes) => {
            setCodes(recoveryCodes);
            // What the missing factor held back is permitted now.
            void refreshRights();
          }}
        />
      ) : (
        <AskPassword onSecret={setSecret} onCancel={onClose} />
      )}
    </Modal>
  );
}

function AskPassword({ onSecret, onCancel }: { onSecret: (secret: Secret) => void; onCancel: () => void }) {
  const enroll = useMutation({ mutationFn: enrollSecondFactor, onSuccess: onSecret });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    enroll.mutate(formText(new FormData(event.currentTarget), 'currentPassword'));
  };
  return (
    <form noValidate onSubmit={submit}>
      <Stack gap="md">
        <Text>Have an authenticator app at hand, such as the one of your phone’s password manager.</Text>
        <PasswordField label="Current Password" name="currentPassword" focused />
        <FormEnd
          problem={enroll.error ? problemOf(enroll.error, 'Failed to set up a second factor') : undefined}
          submitLabel="Continue"
          busy={enroll.isPending}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  );
}

function ProveApp({ secret, onDone }: { secret: Secret; onDone: (recoveryCodes: string[]) => void }) {
  const confirm = useMutation({
    mutationFn: confirmSecondFactor,
    onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    confirm.mutate(formText(new FormData(event.currentTarget), 'code').replaceAll(' ', ''));
  };
  return (
    <form noValidate onSubmit={submit}>
      <Stack gap="md">
        <Text>
          Scan this with your authenticator app,{' '}
          <Anchor href={secret.otpauthUrl} underline="always">
            open it in an app on this device
          </Anchor>
          , or enter the key.
        </Text>
        <Center>
          <Suspense fallback={<Skeleton width={196} height={196} radius={6} />}>
            <QrCode text={secret.otpauthUrl} label="The key as a QR code" />
          </Suspense>
        </Center>
        <div className={classes.secret}>
          <CopyText value={secret.secret} shown={inGroups(secret.secret)} what="key" />
        </div>
        <TextInput
          label="Code"
          description="The six digits that the app shows now"
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={7}
          data-autofocus
        />
        {confirm.error && (
          <ErrorText>{problemOf(confirm.error, 'Failed to set up a second factor')}</ErrorText>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={confirm.isPending}>
            Confirm
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
