import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';

stubBrowser();
const { withoutSecrets } = await import('./dialog-form.ts');

test('the values kept until the next sign-in contain no password, secret or code', () => {
  const initial = { email: '', password: '', secret: '', code: '' };
  const typed = { email: 'dana@clinic.example', password: 'p', secret: 's', code: '1' };
  expect(withoutSecrets(typed, initial)).toEqual({ ...initial, email: 'dana@clinic.example' });
});
