import { users } from '../../contract/users.ts';
import { unique } from '../factories.ts';
import { password } from '../api-client.ts';
import { navigation, type ConsoleServer, type Page } from './support.ts';

export const links = (page: Page) => navigation(page).getByRole('link');
/** An address that no other test has. */
export const address = () => `${unique('kim').toLowerCase().replaceAll(' ', '-')}@lanyard.test`;

/** With the password of the administrator, who may have signed in more than five minutes ago. */
export const makeUser = (
  { admin, printed }: ConsoleServer,
  role: string,
  email = address(),
  name = 'Kim Sato',
) => admin.ok(users.create, { body: { email, name, password, role, currentPassword: printed.password } });
