import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';
import { acceptedSentences, licenseSentences, refusedSentences } from './impact-labels.ts';

stubBrowser();
const { policySentence, reachSentence, widenSentence } = await import('./ReachConfirm.tsx');

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

test('publishing says how many machines are offered it: all, or the share of the rollout', () => {
  const where = 'of this platform, architecture and channel';
  expect(reachSentence(0, 100)).toBe(`No machine ${where} that is known so far runs an older version.`);
  expect(reachSentence(1, 100)).toBe(
    `1 machine ${where} will be offered it, from the next check, unless an update policy holds it back.`,
  );
  expect(policySentence('stable')).toEqual([]);
  expect(policySentence('beta')).toEqual([
    'Machines that an update policy puts on beta or alpha come on top.',
  ]);
  expect(reachSentence(2, 50, 'the start on')).toBe(
    `About 1 of 2 machines ${where} will be offered it, from the start on, unless an update policy holds it back.`,
  );
  expect(reachSentence(1000, 5)).toBe(
    `About 50 of 1,000 machines ${where} will be offered it, from the next check, unless an update policy holds it back.`,
  );
});

test('widening says how many machines come on top: all that are left at 100 %, also where most have installed it', () => {
  const where = 'of this platform, architecture and channel';
  const rest = `${where} will be offered it, from the next check, unless an update policy holds it back.`;
  expect(widenSentence({ machines: 100, running: 900 }, 90, 100)).toBe(
    `About 100 more of 100 machines ${rest}`,
  );
  expect(widenSentence({ machines: 1000, running: 0 }, 5, 25)).toBe(
    `About 200 more of 1,000 machines ${rest}`,
  );
  expect(widenSentence({ machines: 50, running: 950 }, 50, 100)).toBe(`About 50 more of 50 machines ${rest}`);
});
