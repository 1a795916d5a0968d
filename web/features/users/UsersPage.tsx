import { Button, Tabs } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useAuth } from '../../session.tsx';
import { Page } from '../../ui/Page.tsx';
import { UserList } from './UserList.tsx';
import { useUsersSearch } from './use-users-search.ts';
import classes from './users.module.css';

const CreateUser = lazy(() => import('./CreateUser.tsx'));
const EditUser = lazy(() => import('./EditUser.tsx'));
const RoleEditor = lazy(() => import('./RoleEditor.tsx'));

/** Users and their roles (spec part 2, section 2.8); what is shown, and which dialog is open, is in the address. */
export function UsersPage() {
  const { search, change } = useUsersSearch();
  const { can } = useAuth();
  const tab = search.tab ?? 'users';
  return (
    <Page title="User Management" actions={tab === 'users' && can.createUsers && <CreateButton />}>
      <Tabs
        value={tab}
        onChange={(value) => change({ tab: value === 'roles' ? 'roles' : undefined })}
        className={classes.tabs}
      >
        <Tabs.List aria-label="Users and roles">
          <Tabs.Tab value="users" className={classes.tab}>
            Users
          </Tabs.Tab>
          <Tabs.Tab value="roles" className={classes.tab}>
            Roles
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={tab} className={classes.panel}>
          {tab === 'users' ? (
            <UserList />
          ) : (
            <Suspense>
              <RoleEditor />
            </Suspense>
          )}
        </Tabs.Panel>
      </Tabs>
      <Suspense>
        {search.dialog === 'create' && can.createUsers && (
          <CreateUser onClose={() => change({ dialog: undefined })} />
        )}
        {search.edit && can.updateUsers && (
          <EditUser key={search.edit} id={search.edit} onClose={() => change({ edit: undefined })} />
        )}
      </Suspense>
    </Page>
  );
}

function CreateButton() {
  const { change } = useUsersSearch();
  return (
    <Button
      data-hotkey="c"
      leftSection={<IconPlus size={15} stroke={1.75} />}
      onClick={() => change({ dialog: 'create' })}
    >
      Create New User
    </Button>
  );
}
