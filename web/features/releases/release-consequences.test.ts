import { expect, test } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
const { releaseConsequences } = await import('./release-consequences.ts');

const offered = {
  isDraft: false,
  isActive: true,
  pausedAt: null,
  damagedAt: null,
  rolloutPercentage: 30,
  fullAt: null,
  rolloutPlan: null,
  startsAt: null,
  stepTaken: null,
  stepStartedAt: null,
  downloadCount: 12,
  id: '01',
  platform: 'darwin',
  fileName: 'App-2.0.0.zip',
  fileUrl: 'https://here.test/api/v1/updates/files/01/2.0.0/App-2.0.0.zip',
} as const;
type Impact = Parameters<(typeof releaseConsequences)['pause']>[0];
const impact = (fields: Partial<Impact> = {}): Impact => ({
  machines: 0,
  pinned: 0,
  newer: null,
  hiddenBy: null,
  hides: [],
  ...fields,
});

const paused = { ...offered, pausedAt: '2026-11-20T09:00:00.000Z' };
const damaged = { ...offered, damagedAt: '2026-11-20T09:00:00.000Z' };

test.each(['withdraw', 'pause', 'softDelete', 'deletePermanently'] as const)(
  '%s says how many machines keep the version',
  (change) => {
    const said = [2, 1, 0].map((machines) => releaseConsequences[change](impact({ machines }), offered)[0]);
    expect(said).toEqual([
      '2 machines run this version and keep it.',
      '1 machine runs this version and keeps it.',
      'No machine runs this version.',
    ]);
  },
);

test.each(['restore', 'resume'] as const)('%s says how many machines run it already', (change) => {
  const said = [2, 1, 0].map((machines) => releaseConsequences[change](impact({ machines }), offered)[0]);
  expect(said).toEqual([
    '2 machines run this version already.',
    '1 machine runs this version already.',
    'No machine runs this version yet.',
  ]);
});

test('a withdrawal says what happens to machines that do not have it', () =>
  expect(releaseConsequences.withdraw(impact({ machines: 3 }), offered)[1]).toBe(
    'No machine is offered it anymore. Machines with an older version are offered the newest other release that is rolled out to them.',
  ));

test('what ends or begins to be offered is said with the percentage', () => {
  expect(releaseConsequences.softDelete(impact(), offered)[1]).toContain(
    'no longer offered to 30 % of machines',
  );
  expect(releaseConsequences.softDelete(impact(), paused)[1]).toBe('It is offered to no machine now.');
  expect(releaseConsequences.softDelete(impact(), damaged)[1]).toBe('It is offered to no machine now.');
  expect(releaseConsequences.resume(impact(), { ...damaged, pausedAt: paused.pausedAt })[1]).toBe(
    'Its file is damaged: it stays offered to no machine until that is right again.',
  );
  expect(releaseConsequences.restore(impact(), paused)[1]).toBe('It stays offered to no machine.');
  expect(releaseConsequences.resume(impact(), paused)[1]).toContain('offered again to 30 % of machines');
  expect(releaseConsequences.resume(impact(), { ...paused, isDraft: true })[1]).toBe(
    'It stays offered to no machine.',
  );
});

test('what is offered again says how its steps go on, and begins with the first one that is due', () => {
  const rolloutPlan = [
    { percentage: 5, hours: 24 },
    { percentage: 100, hours: null },
  ];
  const planned = { ...offered, rolloutPercentage: 0, rolloutPlan, startsAt: '2020-01-01T00:00:00.000Z' };
  const said = (release: object) =>
    releaseConsequences.restore(impact(), { ...planned, ...release }).slice(1);
  const steps = 'It goes on by itself, in steps: 5 % for 24 h, 100 %.';
  expect(said({})).toEqual([
    'It is offered again to 5 % of machines, from their next check, unless an update policy holds it back.',
    steps,
  ]);
  expect(said({ rolloutPercentage: 5, stepTaken: 0, stepStartedAt: planned.startsAt })).toEqual(said({}));
  expect(said({ startsAt: '2120-01-01T00:00:00.000Z' })).toEqual([
    expect.stringMatching(/^It is offered to no machine before .*2120/),
    steps,
  ]);
});

test('a restore says that policies hold it back, and like what takes it away that their deferrals begin again', () => {
  const full = { ...offered, rolloutPercentage: 100, fullAt: '2026-11-20T09:00:00.000Z' };
  const said = (change: keyof typeof releaseConsequences, release: typeof offered | typeof full) =>
    releaseConsequences[change](impact(), release)[1];
  const again = 'of machines, from their next check, unless an update policy holds it back';
  expect(said('restore', full)).toBe(`It is offered again to 100 % ${again}; deferrals begin again.`);
  expect(said('restore', offered)).toBe(`It is offered again to 30 % ${again}.`);
  expect(said('resume', full)).toBe(`It is offered again to 100 % ${again}.`);
  expect(said('softDelete', full)).toMatch(
    /rolled out to them\. If it is restored, deferrals begin again\.$/,
  );
  expect(said('softDelete', offered)).toMatch(/rolled out to them\.$/);
  expect(said('withdraw', full)).toMatch(
    /rolled out to them\. If it is made active again, deferrals begin again\.$/,
  );
  expect(said('withdraw', offered)).toMatch(/rolled out to them\.$/);
});

test('beside a newer full release, only machines that a policy keeps from that are spoken of', () => {
  const said = (change: 'restore' | 'resume' | 'softDelete') =>
    releaseConsequences[change](impact({ newer: '4.3.0' }), offered)[1];
  const again =
    'It is offered again to 30 % of the machines that an update policy keeps from 4.3.0, from their next check. The others are offered 4.3.0.';
  expect([said('restore'), said('resume')]).toEqual([again, again]);
  expect(said('softDelete')).toBe(
    'It is no longer offered to machines that an update policy keeps from 4.3.0; the others are offered that already.',
  );
});

test('what it hides and what hides it once it is offered again is said', () => {
  const other = { id: '1', version: '4.3.0', rolloutPercentage: 1 };
  const said = (fields: Partial<Impact>, isDraft = false) =>
    releaseConsequences.resume(impact(fields), { ...paused, isDraft }).slice(2);
  expect(said({ hiddenBy: other })).toEqual([expect.stringMatching(/^4\.3\.0 is rolling out \(1 %\)/)]);
  expect(said({ hides: [other] })).toEqual([expect.stringMatching(/^4\.3\.0, at 1 %, is offered meanwhile/)]);
  expect(said({ hides: [other] }, true)).toEqual([]);
});

test('a file that no updater takes is offered to no machine, whatever becomes of its release', () => {
  const image = { ...offered, fileName: 'App-2.0.0.dmg' };
  const elsewhere = { ...offered, platform: 'win32', fileUrl: 'https://there.test/App-full.nupkg' } as const;
  const none = impact();
  expect(releaseConsequences.softDelete(none, image)[1]).toBe('It is offered to no machine now.');
  expect(releaseConsequences.restore(none, image)[1]).toBe(
    'It stays offered to no machine. No updater of this platform takes a .dmg file.',
  );
  expect(releaseConsequences.restore(none, { ...elsewhere, fileName: 'App-full.nupkg' })[1]).toContain(
    'SHA-1',
  );
});

test('deleting for good says how many recorded downloads go, if any', () =>
  expect(
    [12, 0].map(
      (downloadCount) => releaseConsequences.deletePermanently(impact(), { ...offered, downloadCount })[1],
    ),
  ).toEqual(['12 recorded downloads and the binary file go with it.', 'The binary file goes with it.']));

test('deleting warns of the pins that no longer match, and nothing else does', () => {
  const warned = (['softDelete', 'deletePermanently', 'withdraw', 'pause'] as const).map(
    (change) => releaseConsequences[change](impact({ pinned: 2 }), offered)[2],
  );
  expect(warned).toEqual([
    '2 customers are pinned to a version that no other release for these machines has. Once it is permanently deleted, the pin no longer counts for machines that run another version: they are offered newer ones.',
    '2 customers are pinned to a version that no other release for these machines has. Without it, the pin no longer counts for machines that run another version: they are offered newer ones.',
    undefined,
    undefined,
  ]);
});
