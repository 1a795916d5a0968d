import { notificationsStore } from '@mantine/notifications';
import { expect, test } from 'vitest';
import { around, toast } from './toast.tsx';

test('the name of the subject is found in the message, once, also where it looks like an expression', () => {
  expect(around('License A (1) for B revoked', 'A (1) for B')).toEqual({
    before: 'License ',
    after: ' revoked',
  });
  expect(around('a.b and axb', 'a.b')).toEqual({ before: '', after: ' and axb' });
  expect(around('User created successfully', 'ada@clinic.example')).toBeUndefined();
  expect(around('Anything', '')).toBeUndefined();
});

test('a toast lasts three seconds, and ten where it has Undo', async () => {
  const subject = { name: 'Full licenses' };
  await toast({ message: 'View saved', subject });
  await toast({ message: 'View deleted', subject, undo: () => undefined });
  const { notifications, queue } = notificationsStore.getState();
  expect([...notifications, ...queue].map(({ autoClose }) => autoClose)).toEqual([3000, 10_000]);
});
