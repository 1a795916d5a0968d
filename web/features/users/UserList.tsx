import { useQuery } from '@tanstack/react-query';
import type { User } from '../../../contract/users.ts';
import { ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { useWithOwnChanges } from '../../shell/use-own-changes.ts';
import { ColumnChoice, useColumnChoice } from '../../ui/ColumnChoice.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterChips } from '../../ui/FilterChips.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { ListCount } from '../../ui/ListCount.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { EmptyState } from '../../ui/states.tsx';
import { openViewOf, Views } from '../views/index.ts';
import { useMe, useRoles } from './use-roles.ts';
import { isFound, userChips, usersView } from './user-filters.ts';
import { UserFilters } from './UserFilters.tsx';
import { useUsersSearch } from './users-search.ts';
import { userActions, type UserAction } from './user-actions.ts';
import { hiddenAtFirst, userColumns } from './user-columns.tsx';
import { usersQuery } from './queries.ts';

const UserDialog = lazyPart(() => import('./UserDialog.tsx'));

/** Search, filters and table of the users. */
export function UserList() {
  const { search, change } = useUsersSearch();
  const { can } = useAuth();
  const me = useMe();
  const roles = useRoles();
  const list = useQuery(usersQuery(search.search));
  const [visibility, setVisibility] = useColumnChoice('users', hiddenAtFirst);
  const [asked, setAsked] = useKept<{ action: UserAction; user: User }>('open: user action');
  const shown = useWithOwnChanges(asked);
  const viewed = { list: 'users', search, params: usersView } as const;
  const rows = list.data?.filter(isFound(search));
  const columns = userColumns(me, roles);
  const filters = userChips(search);
  const isFiltered = search.search !== undefined || filters.chips.length > 0;
  const handlers = {
    me,
    roles,
    mayUpdate: can.updateUsers,
    mayDelete: can.deleteUsers,
    onEdit: ({ id }: User) => change({ edit: id }),
    onAction: (action: UserAction, user: User) => setAsked({ action, user }),
  };

  return (
    <>
      <FilterRow
        left={<ListSearch search={search} change={change} placeholder="Search users..." />}
        filters={<UserFilters />}
        filtersSet={filters.chips.length}
        right={
          <>
            <Views {...viewed} />
            <ColumnChoice columns={columns} visibility={visibility} onChange={setVisibility} />
          </>
        }
      />
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      <ListCount found={isFiltered && !list.isPlaceholderData ? rows?.length : undefined} />
      <Loaded query={list} title="Failed to fetch users" brief>
        <DataTable
          label="Users"
          columns={columns}
          rows={rows}
          rowId={(user) => user.id}
          rowLabel={(user) => user.email}
          actions={can.updateUsers || can.deleteUsers ? (user) => userActions(user, handlers) : undefined}
          columnVisibility={visibility}
          stale={list.isPlaceholderData}
          empty={<NoUsers />}
        />
      </Loaded>
      <LazyDialogs>{shown && <UserDialog {...shown} onClose={() => setAsked(undefined)} />}</LazyDialogs>
    </>
  );
}

function NoUsers() {
  const { search, change } = useUsersSearch();
  return (
    <EmptyState
      onClear={
        search.search || userChips(search).chips.length > 0
          ? () => change({ ...userChips(search).none, search: undefined })
          : undefined
      }
    >
      No users found. Try adjusting your search.
    </EmptyState>
  );
}
