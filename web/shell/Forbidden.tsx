import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { paths } from '../paths.ts';
import { useAuth } from '../session.tsx';
import { Page } from '../ui/Page.tsx';
import { IconLock } from '../ui/icons.tsx';
import { EmptyState } from '../ui/states.tsx';
import { firstReadable } from './navigation.ts';

/** Replaces a screen that the user may not see. `lacked` is undefined if they may not see any screen. */
export function Forbidden({ lacked }: { lacked: string | undefined }) {
  const { permissions, refreshRights, preview, secondFactorMissing, ownPasswordMissing } = useAuth();
  // Opens the screen if the permission was granted since.
  useEffect(() => {
    if (!preview) void refreshRights();
  }, [refreshRights, preview]);
  const first = firstReadable(permissions);
  return (
    <Page title="You may not see this screen" isDeadEnd>
      <EmptyState
        icon={<IconLock size={28} stroke={1.25} />}
        action={
          <Anchor component={Link} to={first?.to ?? paths.account}>
            Go to {first?.label ?? 'your account'}
          </Anchor>
        }
      >
        {ownPasswordMissing
          ? 'Somebody else set your password. Change it on your account page first.'
          : secondFactorMissing
            ? 'Your role requires a second factor. Set one up on your account page first.'
            : lacked
              ? `It needs the permission ${lacked}. Ask an administrator for it.`
              : 'You do not have access to any screen. Ask an administrator for a role.'}
      </EmptyState>
    </Page>
  );
}
