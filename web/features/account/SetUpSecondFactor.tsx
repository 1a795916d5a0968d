import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { account } from '../../../contract/account.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useShownOnce } from '../../kept-work.ts';
import { PasswordForm } from '../../PasswordForm.tsx';
import { shouldRetry } from '../../query-client.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { readCode } from '../../second-factor-code.ts';
import { useAuth } from '../../session.tsx';
import { aboutAccount } from '../../toast-subjects.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { QrCode } from '../../ui/QrCode.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import classes from './account.module.css';
import { confirmSecondFactor, enrollSecondFactor } from './queries.ts';
import { inGroups } from './in-groups.ts';
import { RecoveryCodes } from './RecoveryCodes.tsx';

type Secret = RouteAnswer<typeof account.enrollSecondFactor>;

/** Password, then the app and a code from it, then the recovery codes, which are shown only once. */
export default function SetUpSecondFactor({ onClose }: { onClose: () => void }) {
  const { refreshRights } = useAuth();
  const [enrolled, setSecret] = useState<Secret>();
  // the app has it already: after the next sign-in it goes on with the same
  const secret = useShownOnce('second factor being set up', enrolled);
  const isLeft = useIsLeft();
  const confirm = useChange({
    mutationFn: confirmSecondFactor,
    // The response holds the codes: they are not cached after the dialog is closed.
    gcTime: 0,
    onSuccess: () => {
      // Calls that required a second factor are permitted now.
      void refreshRights();
      const message =
        'Your second factor is set up, but its recovery codes were not shown. For new ones, have it removed, and set it up again.';
      if (isLeft()) void toast({ message, subject: aboutAccount });
    },
  });
  const codes = useShownOnce('recovery codes', confirm.data)?.recoveryCodes;
  // It may be active. The same request, which has the same `Idempotency-Key` in a dialog, returns the codes.
  const isUnknown = confirm.isError && shouldRetry(0, confirm.error);
  // Codes that are shown only once, or about to be, must not be lost by closing accidentally.
  const isHeld = codes !== undefined || confirm.isPending || isUnknown;
  return (
    <Dialog
      title={codes ? 'Recovery codes' : 'Set up a second factor'}
      held={isHeld ? 'all' : undefined}
      unsaved={secret !== undefined && !isHeld}
      onClose={onClose}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : secret ? (
        <ProveApp
          secret={secret}
          busy={confirm.isPending}
          error={confirm.error}
          isUnknown={isUnknown}
          onCode={(code) => confirm.mutate(code)}
        />
      ) : (
        <AskPassword onSecret={setSecret} onCancel={onClose} />
      )}
    </Dialog>
  );
}

function AskPassword({ onSecret, onCancel }: { onSecret: (secret: Secret) => void; onCancel: () => void }) {
  const enroll = useChange({ mutationFn: enrollSecondFactor, onSuccess: onSecret });
  return (
    <PasswordForm
      error={enroll.error}
      otherwise="Failed to set up a second factor"
      onPassword={(password) => enroll.mutate(password)}
      submitLabel="Continue"
      busy={enroll.isPending}
      onCancel={onCancel}
    >
      <Text>Have an authenticator app ready, such as the one of your phone’s password manager.</Text>
    </PasswordForm>
  );
}

function ProveApp(props: {
  secret: Secret;
  busy: boolean;
  error: Error | null;
  isUnknown: boolean;
  onCode: (code: string) => void;
}) {
  const { secret, isUnknown } = props;
  const form = useDialogForm('code of the app', { initialValues: { code: '' }, validate: () => ({}) });
  const refused = isUnknown ? null : props.error;
  useRefusedFields(refused, form);
  const problem = isUnknown
    ? 'No response arrived, so the second factor may be active already. Ask again with the same code: that returns the recovery codes.'
    : sentenceBesideFields(refused, 'Failed to set up a second factor');
  return (
    <form ref={focusLate} noValidate onSubmit={form.onSubmit(({ code }) => props.onCode(readCode(code)))}>
      <Stack gap="md">
        <Text>
          Scan this with your authenticator app,{' '}
          <Anchor href={secret.otpauthUrl} underline="always">
            open it in an app on this device
          </Anchor>
          , or enter the key.
        </Text>
        <QrCode text={secret.otpauthUrl} label="The key as a QR code" />
        <div className={classes.secret}>
          <CopyText value={secret.secret} shown={inGroups(secret.secret)} what="key" />
        </div>
        <Fields busy={props.busy}>
          <TextInput
            label="Code"
            description="The six digits that the app shows now"
            autoComplete="one-time-code"
            inputMode="numeric"
            readOnly={isUnknown}
            data-autofocus
            {...form.getInputProps('code')}
          />
        </Fields>
        {problem && <ErrorText>{problem}</ErrorText>}
        <Group justify="flex-end">
          <Button type="submit" loading={props.busy}>
            {isUnknown ? 'Ask Again' : 'Confirm'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
