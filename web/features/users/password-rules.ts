import { shortestPassword } from '../../../contract/users.ts';
import type { PasswordProblem } from '../../password-problem.ts';

/** Errors of a new password and its confirmation, in the words of spec part 2, section 5. */
export function passwordsProblem(newPassword: string, confirmPassword: string): PasswordProblem | undefined {
  const field = newPassword ? 'confirmPassword' : 'newPassword';
  if (!newPassword && !confirmPassword) return { field, message: 'Please enter password details' };
  if (!newPassword || !confirmPassword) return { field, message: 'Please fill in all password fields' };
  if (newPassword.length < shortestPassword)
    return { field: 'newPassword', message: 'New password must be at least 6 characters long' };
  return newPassword === confirmPassword ? undefined : { field, message: 'New passwords do not match' };
}
