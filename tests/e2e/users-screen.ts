import { users } from '../../contract/users.ts';
import { unique } from '../factories.ts';
import { password } from '../harness.ts';
import type { ConsoleServer, Page } from './support.ts';

/** The links of the navigation. */
export const links = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link');
/** An address that no other test has. */
export const address = () => `${unique('kim').toLowerCase().replaceAll(' ', '-')}@lanyard.test`;

export const makeUser = (server: ConsoleServer, role: string, email = address(), name = 'Kim Sato') =>
  server.admin.ok(users.create, { body: { email, name, password, role } });
