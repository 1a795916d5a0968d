import { notificationsStore } from '@mantine/notifications';
import { expect, test, vi } from 'vitest';
import { aboutDeletedCustomers, aboutLicense, licenseToast } from '../toast-subjects.ts';
import { around, toast } from './toast.tsx';

const newest = () => notificationsStore.getState().notifications[0];
const messages = () => {
  const { notifications, queue } = notificationsStore.getState();
  return notifications.length + queue.length;
};

test('the name of the subject is found in the message, once, also where it looks like an expression', () => {
  expect(around('License A (1) for B revoked', 'A (1) for B')).toEqual({
    before: 'License ',
    after: ' revoked',
  });
  expect(around('a.b and axb', 'a.b')).toEqual({ before: '', after: ' and axb' });
  expect(around('User created successfully', 'ada@clinic.example')).toBeUndefined();
  expect(around('Anything', '')).toBeUndefined();
});

test('a toast lasts three seconds, and ten where it has Undo, a reason or much to read', async () => {
  const name = 'Dr. Braun: the clinic of many departments in the north of the country';
  for (const [message, duration] of [
    ['View saved', 3000],
    ['Failed to export audit logs', 3000],
    // a name is known, whatever is in it
    [`Customer ${name} restored`, 3000],
    ['This was done. Look at it.', 10_000],
    ['View Trials: You may not delete it.', 10_000],
    ['The license has no seat to give back, since it was revoked meanwhile.', 10_000],
  ] as const) {
    await toast({ message, subject: { name } });
    expect(newest()?.autoClose, message).toBe(duration);
  }
  await toast({ message: 'View deleted', subject: { name: 'Trials' }, undo: () => undefined });
  expect(newest()?.autoClose).toBe(10_000);
});

test('a toast replaces an older one about the same record, whose Undo would undo something else', async () => {
  const before = messages();
  const subject = { name: 'ONC-WS-08', to: '/machines/one' };
  await toast({ message: 'Machine ONC-WS-08 deactivated', subject, undo: () => undefined });
  await toast({ message: 'Machine ONC-WS-08 reactivated', subject });
  expect([messages() - before, newest()?.autoClose]).toEqual([1, 3000]);
});

test('also where the record has another name since, as a license of another customer', async () => {
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
  const before = messages();
  for (const names of [
    ['A', 'B'],
    ['C', 'D'],
  ])
    await toast({
      message: '2 customers deleted',
      subject: aboutDeletedCustomers(names.map((name) => ({ customerId: name, name }))),
      undo: () => undefined,
    });
  expect(messages() - before).toBe(2);
});

test('a change does not fail where the toast that would say it cannot be loaded', async () => {
  vi.doMock('@mantine/notifications', () => {
    throw new Error('Failed to fetch dynamically imported module');
  });
  await expect(toast({ message: 'Session ended', subject: { name: 'Kim' } })).resolves.toBeUndefined();
  vi.doUnmock('@mantine/notifications');
});
