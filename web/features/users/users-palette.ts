import { roleLabel } from '../../../contract/permissions.ts';
import { paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconUsers } from '../../ui/icons.tsx';
import { findUsers } from './queries.ts';

/** Users in the command palette: found by name or email, and a command to create one. */
const usersPalette: PaletteSource = {
  group: 'Users',
  icon: IconUsers,
  resource: 'users',
  list: (search) => ({ to: paths.users, search: { search } }),
  creates: [{ id: 'users create', label: 'Create New User', to: paths.users, search: { dialog: 'create' } }],
  find: async (text, signal) => {
    const users = await findUsers(text, signal);
    return users.slice(0, mostFound).map((user) => ({
      id: `user ${user.id}`,
      label: user.name || user.email,
      description: [user.email, roleLabel(user.role)].join(' · '),
      to: paths.users,
      search: { search: user.email },
    }));
  },
};
export default usersPalette;
