import { expect, onTestFinished, test, vi } from 'vitest';
import { todayKinds } from '../../../contract/today-needs.ts';
import type { TodayLine } from '../../../contract/today.ts';
import { byUrgency, shownLine } from './today-lines.ts';

const now = new Date('2026-11-20T09:30:00Z');
const line = (fields: Partial<TodayLine>): TodayLine => ({
  kind: 'licensesEnding',
  count: 1,
  next: { id: '1', name: 'Charité', at: '2026-11-24T09:30:00Z' },
  since: null,
  usual: null,
  ...fields,
});

test('every kind says what it counts, for one and for many', () => {
  const titles = todayKinds.map((kind) =>
    [1, 1200].map((count) => shownLine(line({ kind, count }), now).title),
  );
  expect(titles).toMatchInlineSnapshot(`
    [
      [
        "The file storage is unavailable",
        "The file storage is unavailable",
      ],
      [
        "The audit log is broken",
        "The audit log is broken",
      ],
      [
        "The end of the audit log is not kept in 1 place",
        "The end of the audit log is not kept in 1,200 places",
      ],
      [
        "Permanent deletion is paused until somebody confirms the clock",
        "Permanent deletion is paused until somebody confirms the clock",
      ],
      [
        "The disk of the service is 1 % full",
        "The disk of the service is 1200 % full",
      ],
      [
        "1 release has a damaged file",
        "1,200 releases have a damaged file",
      ],
      [
        "1 rollout failed and paused itself",
        "1,200 rollouts failed and paused themselves",
      ],
      [
        "1 release fails on machines without a token",
        "1,200 releases fail on machines without a token",
      ],
      [
        "1 change waits for your approval",
        "1,200 changes wait for your approval",
      ],
      [
        "1 rollout is ready for the next step",
        "1,200 rollouts are ready for the next step",
      ],
      [
        "1 rollout is paused",
        "1,200 rollouts are paused",
      ],
      [
        "1 license ended within 7 days, and its machines still ask",
        "1,200 licenses ended within 7 days, and their machines still ask",
      ],
      [
        "1 full license has machines waiting for a seat",
        "1,200 full licenses have machines waiting for a seat",
      ],
      [
        "1 license ends within 30 days",
        "1,200 licenses end within 30 days",
      ],
      [
        "1 license has offline seats that end within 7 days",
        "1,200 licenses have offline seats that end within 7 days",
      ],
      [
        "1 API key reached a limit in this hour or the one before",
        "1,200 API keys reached a limit in this hour or the one before",
      ],
      [
        "1 API key was refused within 24 hours",
        "1,200 API keys were refused within 24 hours",
      ],
      [
        "1 API key expires within 30 days",
        "1,200 API keys expire within 30 days",
      ],
      [
        "1 entry about refused sign-ins within 24 hours",
        "1,200 entries about refused sign-ins within 24 hours",
      ],
      [
        "1 release leaves the recycle bin within 7 days",
        "1,200 releases leave the recycle bin within 7 days",
      ],
    ]
  `);
});

test('sign-ins that are not all counted are more than that many, as in their list', () => {
  const title = (count: number) => shownLine(line({ kind: 'signInsRefused', count }), now).title;
  expect(title(10_000)).toBe('10,000 entries about refused sign-ins within 24 hours');
  expect(title(10_001)).toBe('More than 10,000 entries about refused sign-ins within 24 hours');
});

test('a line leads to its list, and names and opens the most urgent record', () => {
  expect(shownLine(line({}), now)).toEqual({
    tone: 'amber',
    title: '1 license ends within 30 days',
    about: 'Charité ends in 4 days',
    list: { to: '/licenses', search: { expiring: '30', sort: 'validUntil' } },
    next: {
      to: '/licenses',
      search: { expiring: '30', sort: 'validUntil', edit: '1' },
      label: 'Open License',
    },
  });
  expect(shownLine(line({ next: null }), now)).toMatchObject({ about: null, next: null });
});

test('the end of a license is a day of UTC, also where its reader has another', () => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const aboutEnd = (kind: TodayLine['kind'], at: string) =>
    shownLine(line({ kind, next: { id: '1', name: 'Charité', at } }), now).about;
  expect(aboutEnd('licensesEnding', '2026-11-22T00:00:00Z')).toBe('Charité ends in 2 days');
  expect(aboutEnd('offlineEnding', '2026-11-22T00:00:00Z')).toBe('The first of Charité ends in 2 days');
  expect(aboutEnd('licensesEnded', '2026-11-19T00:00:00Z')).toBe('Charité ended yesterday');
  expect(aboutEnd('licensesEnding', '2026-11-25T23:59:59.999Z')).toBe('Charité ends in 5 days');
  expect(aboutEnd('licensesEnding', '2026-12-03T00:00:00Z'), 'as the badge in the list').toBe(
    'Charité ends in 13 days',
  );
  expect(aboutEnd('licensesEnding', '2026-11-21T00:00:00Z')).toBe('Charité ends in 14 hours');
});

test('a key that reached a limit may have been refused nothing, and may be served again', () => {
  const { about } = shownLine(
    line({ kind: 'keysLimited', next: { id: '1', name: 'Desktop', at: null } }),
    now,
  );
  expect(about).toBe(
    'Desktop: what was above its limit of requests, events or new machines was refused or not recorded',
  );
});

test('a release whose time in the bin is over was not deleted: it waits for the next cleanup', () => {
  const aboutEnd = (at: string) =>
    shownLine(line({ kind: 'trashEnding', next: { id: '1', name: '4.2.0', at } }), now).about;
  expect(aboutEnd('2026-11-22T09:30:00Z')).toBe('4.2.0 is permanently deleted in 2 days');
  expect(aboutEnd('2026-11-20T08:50:00Z')).toBe('4.2.0 is permanently deleted at the next cleanup');
});

test('what is no list leads to the screen that it is about', () => {
  const targetOf = (kind: TodayLine['kind']) => shownLine(line({ kind, next: null }), now);
  expect(targetOf('storageDown').list).toEqual({ to: '/releases' });
  expect(targetOf('clockJumped').list).toEqual({ to: '/releases/trash' });
  expect(targetOf('diskFull')).toMatchObject({ next: { to: '/releases/trash', label: 'Open Bin' } });
});

test('the most urgent lines come first, equally urgent ones in the order of the service', () => {
  const kinds = [
    'diskFull',
    'rolloutsPaused',
    'licensesEnded',
    'licensesFull',
    'licensesEnding',
    'trashEnding',
  ];
  const lines = (diskFull: number) =>
    kinds.map((kind) => line({ kind: kind as TodayLine['kind'], count: kind === 'diskFull' ? diskFull : 1 }));
  const order = (diskFull: number) => byUrgency(lines(diskFull), now).map(({ kind }) => kind);
  const rest = ['rolloutsPaused', 'licensesEnding', 'trashEnding'];
  expect(order(90)).toEqual(['licensesEnded', 'diskFull', 'licensesFull', ...rest]);
  expect(order(99)).toEqual(['diskFull', 'licensesEnded', 'licensesFull', ...rest]);
});

test('a line of a kind that only another version knows is left out', () => {
  const unknown = line({ kind: 'toCome' as TodayLine['kind'] });
  expect(byUrgency([unknown, line({})], now)).toEqual([line({})]);
});
