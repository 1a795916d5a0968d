import { Navigate } from '@tanstack/react-router';
import { useAuth } from '../session.tsx';
import { Forbidden } from './Forbidden.tsx';
import { firstScreen } from './navigation.ts';

/** `/` redirects to the licenses (spec part 1, section 2), unless the user chose another screen. */
export function Home() {
  const { permissions, firstScreen: chosen } = useAuth();
  const first = firstScreen(permissions, chosen);
  return first ? <Navigate to={first.to} replace /> : <Forbidden lacked={undefined} />;
}
