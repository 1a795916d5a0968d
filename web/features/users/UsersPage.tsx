import { Suspense } from 'react';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { CreateButton } from '../../ui/ListButtons.tsx';
import { Page } from '../../ui/Page.tsx';
import { PageTabs } from '../../ui/PageTabs.tsx';
import { UserList } from './UserList.tsx';
import { useUsersSearch } from './users-search.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const CreateUser = lazyPart(() => import('./CreateUser.tsx'));
const EditUser = lazyPart(() => import('./EditUser.tsx'));
const RoleEditor = lazyPart(() => import('./RoleEditor.tsx'));

const tabs = [
  { value: 'users', label: 'Users' },
  { value: 'roles', label: 'Roles' },
] as const;

/** Users and their roles (spec part 2, section 2.8); the state and the open dialog are in the URL. */
export function UsersPage() {
  const { search, change } = useUsersSearch();
  const { can } = useAuth();
  const tab = search.tab ?? 'users';
  return (
    <Page
      title="User Management"
      actions={
        tab === 'users' &&
        can.createUsers && (
          <CreateButton onClick={() => change({ dialog: 'create' })}>Create New User</CreateButton>
        )
      }
    >
      <PageTabs
        label="Users and roles"
        tab={tab}
        tabs={tabs}
        onTab={(chosen) => change({ tab: chosen === 'roles' ? chosen : undefined, role: undefined })}
      >
        {tab === 'users' ? (
          <UserList />
        ) : (
          <Suspense>
            <RoleEditor />
          </Suspense>
        )}
      </PageTabs>
      <LazyDialogs>
        {search.dialog === 'create' && can.createUsers && (
          <CreateUser onClose={() => change({ dialog: undefined })} />
        )}
        {search.edit && can.updateUsers && (
          <EditUser key={search.edit} id={search.edit} onClose={() => change({ edit: undefined })} />
        )}
      </LazyDialogs>
    </Page>
  );
}
