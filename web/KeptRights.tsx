import { useEffect, useState, type ReactNode } from 'react';
import { hasLost } from './permission-checks.ts';
import { AuthContext, useAuth } from './session.tsx';
import { closedForms, isInputOpen } from './ui/open-forms.ts';

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
  return (
    <AuthContext value={isLess ? { ...shown, secondFactorMissing, ownPasswordMissing } : auth}>
      {children}
    </AuthContext>
  );
}
