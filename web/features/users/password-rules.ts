import { shortestPassword } from '../../../contract/users.ts';

/** Errors of a new password and its confirmation, in the words of spec part 2, section 5. */
export function passwordsProblem(newPassword: string, confirmPassword: string): string | undefined {
  if (!newPassword && !confirmPassword) return 'Please enter password details';
  if (!newPassword || !confirmPassword) return 'Please fill in all password fields';
  if (newPassword.length < shortestPassword) return 'New password must be at least 6 characters long';
  return newPassword === confirmPassword ? undefined : 'New passwords do not match';
}
