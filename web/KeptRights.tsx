import { useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { maySee, type Permission } from '../contract/permissions.ts';
import { hasLost } from './permission-checks.ts';
import { AuthContext, useAuth } from './session.tsx';
import { closedForms, isInputOpen } from './ui/open-forms.ts';
import { MayFollow } from './ui/ScreenLink.tsx';

/**
 * The user for the screens. While a form has input, they keep the rights that it was begun with: it would be removed, with
 * what was typed, and what is shown only once. The service refuses what it sends, and says why.
 */
export function KeptRights({ children }: { children: ReactNode }) {
  const auth = useAuth();
  const [shown, setShown] = useState(auth);
  // not in the preview of a role, which is chosen
  const isLess = shown.preview === auth.preview && hasLost(shown.permissions, auth.permissions);
  if (!isLess && shown !== auth) setShown(auth);
  useEffect(() => {
    if (!isLess) return undefined;
    const release = () => isInputOpen() || setShown(auth);
    release();
    return closedForms.subscribe(release);
  }, [auth, isLess]);
  const { secondFactorMissing, ownPasswordMissing } = auth;
  const rights = isLess ? { ...shown, secondFactorMissing, ownPasswordMissing } : auth;
  const mayFollow = useMayFollow(rights.permissions);
  return (
    <AuthContext value={rights}>
      <MayFollow value={mayFollow}>{children}</MayFollow>
    </AuthContext>
  );
}

/** By what the route of a screen needs. */
function useMayFollow(held: readonly Permission[]) {
  const router = useRouter();
  return useCallback(
    (path: string) => {
      const [routes] = router.getMatchedRoutes(path.replace(/[?#].*/, ''));
      return maySee(routes.at(-1)?.options.staticData?.needs ?? [], held);
    },
    [router, held],
  );
}
