import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { shortestPassword } from '../contract/users.ts';
import { fail, type Failure } from './failure.ts';

/** 49,233 of the most common passwords from published leaks, in lower case. */
const list = createRequire(import.meta.url).resolve('@zxcvbn-ts/language-common/src/passwords.json');

/** Passwords missing in the list, because its library detects keyboard rows, repetitions and years by rules. */
const beyondTheList = new Set(
  (
    '654321 987654 987654321 9876543210 121212 101010 232323 252525 12341234 abcdef abcdefg abcdefgh p@ssword ' +
    'qwertz qwertzuiop login123 admin1234 root123 rootroot toor123 guest123 summer2025 summer2026 winter2025 ' +
    'winter2026 spring2026 autumn2026 lanyard lanyard1 lanyard12 lanyard123'
  ).split(' '),
);

/** Read each time: passwords are set rarely, and the list would stay in memory. */
const isListed = (password: string) => readFileSync(list, 'utf8').includes(JSON.stringify(password));

const isOneCharacter = (password: string) => new Set(password).size <= 1;

/** Normalizes case, width, invisible characters and surrounding spaces. */
const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .toLowerCase();

const isOwnEmail = (password: string, email: string) =>
  [email, email.replace(/@.*$/, '')].some((own) => plain(own) === password);

/** The problem with a new password of this user, in the words of the spec where it defines them. */
export function passwordProblem(password: string, email: string): string | undefined {
  if (password.length < shortestPassword) return 'New password must be at least 6 characters long';
  const meant = plain(password);
  if (isOwnEmail(meant, email)) return 'The password must not be the email address. Choose another.';
  if (isOneCharacter(meant)) return 'The password must not be one repeated character. Choose another.';
  if (beyondTheList.has(meant) || isListed(meant))
    return 'This password is one of the most common ones. Choose another.';
  return undefined;
}

/** Why a password, the field `path` of its call, may not be set for the user with this email; undefined if it may. */
export function refusePassword(password: string, email: string, path: string): Failure | undefined {
  const message = passwordProblem(password, email);
  return message === undefined ? undefined : fail('RULE_VIOLATED', message, { details: [{ path, message }] });
}

/** The four messages of a reset (spec part 2, section 5), and the password rules. */
export function refusePasswords(
  { newPassword, confirmPassword }: { newPassword: string; confirmPassword: string },
  email: string,
): Failure | undefined {
  if (!newPassword && !confirmPassword) return fail('RULE_VIOLATED', 'Please enter password details');
  if (!newPassword || !confirmPassword) return fail('RULE_VIOLATED', 'Please fill in all password fields');
  const refusal = refusePassword(newPassword, email, 'newPassword');
  if (refusal) return refusal;
  return newPassword === confirmPassword ? undefined : fail('RULE_VIOLATED', 'New passwords do not match');
}
