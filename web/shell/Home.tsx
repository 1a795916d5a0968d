import { Navigate } from '@tanstack/react-router';
import { useAuth } from '../session.tsx';
import { Forbidden } from './Forbidden.tsx';
import { firstReadable } from './navigation.ts';

/** `/` redirects to the licenses (spec part 1, section 2), or to the first screen that the user may read. */
export function Home() {
  const { hasPermission } = useAuth();
  const first = firstReadable(hasPermission);
  return first ? <Navigate to={first.to} replace /> : <Forbidden needs={undefined} />;
}
