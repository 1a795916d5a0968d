import { shortestPassword } from '../../../contract/users.ts';
import { fail, type Failure } from '../../failure.ts';

/**
 * The most common passwords of six signs and more. Six is the spec's minimum (part 2, section 5), which is a trap:
 * this list is the guard beside it.
 */
const common = new Set(
  (
    '123456 1234567 12345678 123456789 1234567890 12345678910 111111 000000 123123 654321 666666 121212 112233 ' +
    '123321 159753 222222 333333 444444 555555 777777 888888 999999 696969 147258 147258369 987654321 987654 123654 ' +
    '789456 159357 102030 101010 131313 232323 252525 11111111 00000000 88888888 12341234 11223344 123454321 ' +
    'password password1 password12 password123 passw0rd p@ssw0rd p@ssword pass123 pass1234 passwort qwerty qwerty1 ' +
    'qwerty12 qwerty123 qwertyuiop qwertz qwertzuiop azerty azertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm 1q2w3e ' +
    '1q2w3e4r 1q2w3e4r5t 1qaz2wsx qazwsx qazwsxedc q1w2e3 q1w2e3r4 abc123 abcd1234 abcdef abcdefg abcdefgh a123456 ' +
    'aa123456 123abc 123qwe qwe123 asd123 zxc123 iloveyou iloveyou1 princess sunshine football baseball basketball ' +
    'monkey dragon master shadow superman batman spiderman michael jordan jordan23 jennifer jessica ashley ashley1 ' +
    'michelle daniel charlie andrew matthew joshua thomas robert george hannah nicole anthony justin hunter hunter2 ' +
    'welcome welcome1 welcome123 letmein letmein1 login123 admin1 admin12 admin123 admin1234 administrator root123 ' +
    'rootroot toor123 test123 test1234 testtest tester guest123 guest1 user123 username changeme changeme1 default ' +
    'secret secret1 secret123 trustno1 whatever freedom starwars computer internet killer pepper ginger cookie ' +
    'cheese banana orange purple flower lovely loveme jesus1 hello1 hello123 hellohello summer winter spring autumn ' +
    'january february october november december monday friday london berlin summer2025 summer2026 winter2025 ' +
    'winter2026 spring2026 autumn2026 temp123 temp1234 temporary lanyard lanyard1 lanyard123 hospital medical'
  ).split(' '),
);

/** Why a password may not be set, in the spec's words where it has them; undefined when it may. */
export function refusePassword(password: string): Failure | undefined {
  const message =
    password.length < shortestPassword
      ? 'New password must be at least 6 characters long'
      : common.has(password.toLowerCase())
        ? 'This password is one of the most common ones. Choose another.'
        : undefined;
  return message === undefined
    ? undefined
    : fail('RULE_VIOLATED', message, { details: [{ path: 'newPassword', message }] });
}

/** The four messages of a reset (spec part 2, section 5), and the guard beside them. */
export function refusePasswords(newPassword: string, confirmPassword: string): Failure | undefined {
  if (!newPassword && !confirmPassword) return fail('RULE_VIOLATED', 'Please enter password details');
  if (!newPassword || !confirmPassword) return fail('RULE_VIOLATED', 'Please fill in all password fields');
  const refusal = refusePassword(newPassword);
  if (refusal) return refusal;
  return newPassword === confirmPassword ? undefined : fail('RULE_VIOLATED', 'New passwords do not match');
}
