import { expect, test } from 'vitest';
import { around } from './toast.tsx';

test('the name of the subject is found in the message, once, also where it looks like an expression', () => {
  expect(around('License A (1) for B revoked', 'A (1) for B')).toEqual({
    before: 'License ',
    after: ' revoked',
  });
  expect(around('a.b and axb', 'a.b')).toEqual({ before: '', after: ' and axb' });
  expect(around('User created successfully', 'ada@clinic.example')).toBeUndefined();
  expect(around('Anything', '')).toBeUndefined();
});
