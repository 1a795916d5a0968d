import { Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { ApiError, fieldErrors, messageOf } from '../../api-error.ts';
import { hasKeptWork } from '../../kept-work.ts';
import { safeRedirect } from '../../paths.ts';
import { readCode } from '../../second-factor-code.ts';
import { hasSessionLapsed } from '../../session-store.ts';
import { useAuth } from '../../session.tsx';
import { Brand } from '../../shell/Brand.tsx';
import { BuildInfo } from '../../shell/BuildInfo.tsx';
import { useCleanPaste } from '../../ui/clean-paste.ts';
import { submitTexts } from '../../ui/form-text.ts';
import { RestoringSpinner } from '../../shell/RestoringSpinner.tsx';
import { ToneAlert } from '../../ui/ToneAlert.tsx';
import classes from './LoginPage.module.css';

const route = getRouteApi('/login');

/** Signs in and continues to the requested page; a signed-in user is redirected immediately. */
export function LoginPage() {
  const { isAuthenticated, loading } = useAuth();
  const { redirect } = route.useSearch();
  useCleanPaste();
  if (loading) return <RestoringSpinner />;
  if (isAuthenticated) return <RedirectTo to={safeRedirect(redirect, window.location.origin)} />;
  return (
    <main className={classes.screen}>
      <title>Sign in · Lanyard</title>
      <Paper withBorder radius={8} p={28} w="100%" maw={380}>
        <Stack gap="lg">
          <Stack gap={10}>
            <Brand size={28} />
            <Text c="dimmed">The staff console for software licenses, machines and desktop releases.</Text>
            <div className={classes.seats} aria-hidden />
          </Stack>
          <Title order={1}>Sign in</Title>
          {hasSessionLapsed() && <WhySignIn />}
          <LoginForm />
        </Stack>
      </Paper>
      <BuildInfo />
    </main>
  );
}

function WhySignIn() {
  return (
    <Text role="status" size="sm">
      {hasKeptWork()
        ? 'Your session ended. Sign in again: your input is kept.'
        : 'Your session ended. Sign in again.'}
    </Text>
  );
}

function RedirectTo({ to }: { to: string }) {
  const { history } = useRouter();
  useEffect(() => history.replace(to), [history, to]);
  return <RestoringSpinner />;
}

function LoginForm() {
  const { login } = useAuth();
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [codeWanted, setCodeWanted] = useState(false);

  const signIn = async (form: HTMLFormElement, email: string, password: string, code: string) => {
    const from = document.activeElement;
    setFailure(undefined);
    setBusy(true);
    try {
      await login(email, password, code);
    } catch (cause) {
      setBusy(false);
      if (wantsCode(cause) && !codeWanted) return setCodeWanted(true);
      setFailure(cause);
      // who corrects the address by now would type into the password
      if (![from, document.body].includes(document.activeElement)) return;
      enter(form, codeWanted ? 'code' : 'password');
    }
  };

  return (
    <form
      onSubmit={submitTexts(
        (textOf, form) => void signIn(form, textOf('email'), textOf('password'), readCode(textOf('code'))),
      )}
    >
      <Stack gap="md">
        {failure !== undefined && (
          <ToneAlert tone="red" p="xs">
            {messageOf(failure, 'Login failed')}
          </ToneAlert>
        )}
        {/* Keeps email and password in the form: they are sent together with the code. */}
        <Credentials hidden={codeWanted} />
        {codeWanted && <CodeInput isWrong={isCodeRefused(failure)} />}
        <Button type="submit" size="sm" fullWidth loading={busy}>
          Sign In
        </Button>
        {codeWanted && (
          <Button
            variant="subtle"
            size="sm"
            fullWidth
            disabled={busy}
            onClick={({ currentTarget: { form } }) => {
              // shown again, before it can have the focus
              flushSync(() => setCodeWanted(false));
              setFailure(undefined);
              enter(form, 'password');
            }}
          >
            Back
          </Button>
        )}
      </Stack>
    </form>
  );
}

function enter(form: HTMLFormElement | null, name: string): void {
  const field = form?.elements.namedItem(name);
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.select();
}

const wantsCode = (error: unknown) =>
  error instanceof Error && error.cause instanceof ApiError && error.cause.code === 'SECOND_FACTOR_REQUIRED';

/** Of a call with a code: its email and password were right in the call before. */
const isCodeRefused = (error: unknown) =>
  error instanceof Error &&
  error.cause instanceof ApiError &&
  (error.cause.code === 'WRONG_CREDENTIALS' || 'code' in fieldErrors(error.cause));

function Credentials({ hidden }: { hidden: boolean }): ReactNode {
  const display = hidden ? 'none' : undefined;
  return (
    <>
      <TextInput
        size="sm"
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        autoFocus
        required
        withAsterisk={false}
        display={display}
      />
      <PasswordInput
        size="sm"
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        display={display}
      />
    </>
  );
}

function CodeInput({ isWrong }: { isWrong: boolean }) {
  return (
    <TextInput
      size="sm"
      label="Code"
      description="Six digits of your authenticator app, or one of your recovery codes"
      name="code"
      autoComplete="one-time-code"
      autoFocus
      required
      withAsterisk={false}
      error={isWrong}
    />
  );
}
