import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../paths.ts';
import { Page } from '../ui/Page.tsx';
import { IconMapOff } from '../ui/icons.tsx';
import { EmptyState } from '../ui/states.tsx';

export function NotFound() {
  return (
    <Page title="Page not found" isDeadEnd>
      <EmptyState
        icon={<IconMapOff size={28} stroke={1.25} />}
        action={
          <Anchor component={Link} to={paths.home}>
            Go to the start page
          </Anchor>
        }
      >
        There is nothing at this address. It may have been typed wrong, or the page has moved.
      </EmptyState>
    </Page>
  );
}
