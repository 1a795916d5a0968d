import { notificationsStore } from '@mantine/notifications';
import { expect, test, vi } from 'vitest';
import { aboutDeletedCustomers, aboutLicense, licenseToast } from '../toast-subjects.ts';
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

test('a toast lasts three seconds, and ten where it has Undo or more than a sentence', async () => {
  await toast({ message: 'View saved', subject: { name: 'Full licenses' } });
  await toast({ message: 'View deleted', subject: { name: 'Trials' }, undo: () => undefined });
  await toast({ message: 'This was done. Look at it.', subject: { name: 'Long' }, isLong: true });
  const { notifications, queue } = notificationsStore.getState();
  expect([...notifications, ...queue].map(({ autoClose }) => autoClose)).toEqual([10_000, 10_000, 3000]);
});

test('a toast replaces an older one about the same record, whose Undo would undo something else', async () => {
  const subject = { name: 'ONC-WS-08', to: '/machines/one' };
  await toast({ message: 'Machine ONC-WS-08 deactivated', subject, undo: () => undefined });
  await toast({ message: 'Machine ONC-WS-08 reactivated', subject });
  const { notifications, queue } = notificationsStore.getState();
  const about = [...notifications, ...queue].filter(({ autoClose }) => autoClose === 3000);
  // the other is the first toast of this file
  expect([about.length, notifications[0]?.autoClose]).toEqual([2, 3000]);
  expect([...notifications, ...queue]).toHaveLength(4);
});

test('also where the record has another name since, as a license of another customer', async () => {
  const messages = () => {
    const { notifications, queue } = notificationsStore.getState();
    return [...notifications, ...queue].length;
  };
  const before = messages();
  const license = { licenseId: 'one', licenseKey: 'E4YJG' };
  for (const name of ['Charité', 'Bethesda'])
    await toast(licenseToast({ ...license, customer: { customerId: name, name } as never }, 'extended'));
  await toast({
    message: 'License E4YJG is back',
    subject: { ...aboutLicense(license as never), name: 'E4YJG' },
  });
  expect(messages() - before).toBe(1);
});

test('as many other customers are another subject: Undo of the first ones stays', async () => {
  const { notifications, queue } = notificationsStore.getState();
  const before = notifications.length + queue.length;
  for (const names of [
    ['A', 'B'],
    ['C', 'D'],
  ])
    await toast({
      message: '2 customers deleted',
      subject: aboutDeletedCustomers(names.map((name) => ({ customerId: name, name }))),
      undo: () => undefined,
    });
  const after = notificationsStore.getState();
  expect(after.notifications.length + after.queue.length - before).toBe(2);
});

test('a change does not fail where the toast that would say it cannot be loaded', async () => {
  vi.doMock('@mantine/notifications', () => {
    throw new Error('Failed to fetch dynamically imported module');
  });
  await expect(toast({ message: 'Session ended', subject: { name: 'Kim' } })).resolves.toBeUndefined();
  vi.doUnmock('@mantine/notifications');
});
