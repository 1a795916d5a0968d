import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';
import { acceptedSentences, licenseSentences, refusedSentences } from './impact-labels.ts';

stubBrowser();
const { besideSentences, policySentence, reachSentences, termSentences, widenSentences } =
  await import('./ReachConfirm.tsx');

test('a change that refuses machines, or accepts them again, says how many', () => {
  const online = [0, 1, 1234].map((machines) => ({ machines, offline: 0 }));
  expect(online.flatMap(refusedSentences)).toEqual([
    'No machine is refused: none runs on them now.',
    '1 machine is refused from its next check.',
    '1,234 machines are refused from their next check.',
  ]);
  expect(online.flatMap(acceptedSentences)).toEqual([
    'No machine is waiting: none holds a seat that is valid now.',
    '1 machine is accepted again from its next check.',
    '1,234 machines are accepted again from their next check.',
  ]);
  expect(refusedSentences({ machines: 1, offline: 2 })).toEqual([
    '1 machine is refused from its next check.',
    '2 machines have a license file, and may run until that ends.',
  ]);
  expect(acceptedSentences({ machines: 0, offline: 1 })).toEqual([
    '1 machine has a license file, and may run until that ends.',
  ]);
});

test('a customer without licenses has no machines to speak of', () => {
  const said = (licenses: number) =>
    licenseSentences({ licenses, machines: 0, offline: 0 }, 'this customer', refusedSentences);
  expect(said(0)).toEqual(['No licenses belong to this customer.']);
  expect(said(1)).toEqual([
    '1 license belongs to this customer.',
    'No machine is refused: none runs on them now.',
  ]);
});

const said = (machines: number, percentage: number, from?: string) =>
  reachSentences({ machines, newer: [], below: 0 }, percentage, from);

test('publishing says how many machines are offered it: all, or the share of the rollout', () => {
  const where = 'of this platform, architecture and channel';
  expect(said(0, 100)).toEqual([`No machine ${where} that is known so far runs an older version.`]);
  expect(said(1, 100)).toEqual([
    `1 machine ${where} will be offered it, from the next check, unless an update policy holds it back.`,
  ]);
  expect(policySentence('stable')).toEqual([]);
  expect(policySentence('beta')).toEqual([
    'Machines that an update policy puts on beta or alpha come on top.',
  ]);
  expect(said(2, 50, 'the start on')).toEqual([
    `About 1 of 2 machines ${where} will be offered it, from the start on, unless an update policy holds it back.`,
  ]);
  expect(said(1000, 5)).toEqual([
    `About 50 of 1,000 machines ${where} will be offered it, from the next check, unless an update policy holds it back.`,
  ]);
});

test('publishing says who is offered a newer release instead, or is below the minimum version, also where all are', () => {
  const newer = [{ machines: 812, version: '4.3.0' }];
  const others = [
    '812 machines with an older version are offered 4.3.0 instead, unless an update policy holds that back.',
    '1 machine with an older version is below the minimum app version, and not offered it.',
  ];
  expect(reachSentences({ machines: 0, newer, below: 1 }, 100)).toEqual(others);
  expect(reachSentences({ machines: 7, newer, below: 1 }, 100)).toEqual([...said(7, 100), ...others]);
  expect(widenSentences({ machines: 7, running: 0, newer, below: 1 }, 1, 100).slice(1)).toEqual(others);
});

test('publishing says on which terms, which another person may have set', () => {
  const none = {
    security: false,
    isMandatory: false,
    minimumSupportedVersion: null,
    acceptableFailures: null,
  };
  expect(termSentences(none)).toEqual([]);
  const all = { security: true, isMandatory: true, minimumSupportedVersion: '4.1.0', acceptableFailures: 0 };
  expect(termSentences(all)).toEqual([
    'It is a security update, which update policies do not hold back.',
    'Machines below 4.1.0 get it like a security update.',
    'It is mandatory: users must update to continue using the app.',
    'It is paused when clearly more than 0 % of its installs fail.',
  ]);
});

test('a partial rollout says which one it hides, and which one hides it', () => {
  const release = { id: '1', version: '4.3.0', rolloutPercentage: 1 };
  expect(besideSentences({ hides: [release], hiddenBy: null }, 5)).toEqual([
    '4.3.0, at 1 %, is offered meanwhile only to machines from which an update policy or the minimum app version keeps this one, and takes no step by itself. Withdraw 4.3.0 if this release replaces it.',
  ]);
  expect(besideSentences({ hides: [], hiddenBy: release }, 5)).toEqual([
    expect.stringMatching(/^4\.3\.0 is rolling out \(1 %\)/),
  ]);
  expect(besideSentences({ hides: [release], hiddenBy: release }, 100)).toEqual([]);
  expect(besideSentences({ hides: [release], hiddenBy: null }, 0)).toEqual([]);
});

test('widening says how many machines come on top: all that are left at 100 %, also where most have installed it', () => {
  const where = 'of this platform, architecture and channel';
  const rest = `${where} will be offered it, from the next check, unless an update policy holds it back.`;
  const more = (machines: number, running: number, from: number, to: number) =>
    widenSentences({ machines, running, newer: [], below: 0 }, from, to);
  expect(more(100, 900, 90, 100)).toEqual([`About 100 more of 100 machines ${rest}`]);
  expect(more(1000, 0, 5, 25)).toEqual([`About 200 more of 1,000 machines ${rest}`]);
  expect(more(50, 950, 50, 100)).toEqual([`About 50 more of 50 machines ${rest}`]);
});
