import { Alert, Button, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { messageOf } from '../../api-error.ts';
import { safeRedirect } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Brand } from '../../shell/Brand.tsx';
import { BuildInfo } from '../../shell/BuildInfo.tsx';
import { RestoringSpinner } from '../../shell/RestoringSpinner.tsx';
import classes from './LoginPage.module.css';

const route = getRouteApi('/login');

/** Sign-in, and on to where the person was going; one who is signed in is sent on at once. */
export function LoginPage() {
  const { isAuthenticated, loading } = useAuth();
  const { redirect } = route.useSearch();
  if (loading) return <RestoringSpinner />;
  if (isAuthenticated) return <SendOn to={safeRedirect(redirect, window.location.origin)} />;
  return (
    <main className={classes.screen}>
      <title>Sign in · Lanyard</title>
      <Paper withBorder radius={8} p={28} w="100%" maw={380}>
        <Stack gap="lg">
          <Stack gap={10}>
            <Brand />
            <Title order={1}>Sign in</Title>
          </Stack>
          <LoginForm />
        </Stack>
      </Paper>
      <BuildInfo />
    </main>
  );
}

function SendOn({ to }: { to: string }) {
  const { history } = useRouter();
  useEffect(() => history.replace(to), [history, to]);
  return <RestoringSpinner />;
}

function LoginForm() {
  const { login } = useAuth();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    setError(undefined);
    setBusy(true);
    try {
      await login(String(given.get('email')), String(given.get('password')));
    } catch (cause) {
      setError(messageOf(cause, 'Login failed'));
      setBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        {error && (
          <Alert
            color="red"
            role="alert"
            p="xs"
            classNames={{ root: classes.error!, message: classes.errorText! }}
          >
            {error}
          </Alert>
        )}
        <TextInput
          size="sm"
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          autoFocus
          required
          withAsterisk={false}
        />
        <PasswordInput
          size="sm"
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
        />
        <Button type="submit" size="sm" fullWidth loading={busy}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
