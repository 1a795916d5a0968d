import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideValidation, type Question } from './decide-validation.ts';

const now = new Date('2026-11-20T09:30:00Z');
const near = fc.integer({ min: -2, max: 2 }).map((ms) => new Date(now.getTime() + ms));
const questions: fc.Arbitrary<Question> = fc.record({
  license: fc.option(
    fc.record({
      status: fc.constantFrom('active' as const, 'revoked' as const),
      valid_from: near,
      valid_until: near,
      max_activations: fc.integer({ min: 1, max: 3 }),
      current_activations: fc.integer({ min: 0, max: 4 }),
      customer_status: fc.constantFrom('active' as const, 'inactive' as const),
      customer_deleted_at: fc.option(near),
    }),
    { nil: undefined },
  ),
  seat: fc.option(fc.constantFrom('active' as const, 'deactivated' as const, 'released' as const), {
    nil: undefined,
  }),
  byStaff: fc.boolean(),
  now: fc.constant(now),
});

const check = (holds: (given: Question, decided: ReturnType<typeof decideValidation>) => void) =>
  fc.assert(
    fc.property(questions, (given) => holds(given, decideValidation(given))),
    { seed: 4, numRuns: 3000 },
  );

test('VALID is said of a license only that is active, in its time, of an active customer', () => {
  check(({ license }, { code }) => {
    if (code !== 'VALID') return;
    expect(license).toMatchObject({ status: 'active', customer_status: 'active', customer_deleted_at: null });
    expect(license!.valid_from <= now && now <= license!.valid_until).toBe(true);
  });
});

test('a seat is given only where one is free, and never to a machine that has one', () => {
  check(({ license, seat }, { takesSeat, code }) => {
    if (!takesSeat) return;
    expect(code).toBe('VALID');
    expect(license!.current_activations).toBeLessThan(license!.max_activations);
    expect(seat).not.toBe('active');
  });
});

test('a machine that staff deactivated comes back through staff alone', () => {
  check(({ seat, byStaff }, { code }) => {
    if (seat === 'deactivated' && !byStaff) expect(code).not.toBe('VALID');
    if (code === 'MACHINE_DEACTIVATED') expect([seat, byStaff]).toEqual(['deactivated', false]);
  });
});

test('a machine with a seat keeps it, also when there are more machines than seats', () => {
  check(({ license, seat }, { code }) => {
    if (seat === 'active' && license) expect(code).not.toBe('TOO_MANY_ACTIVATIONS');
  });
});

test('who calls and which machine it is change nothing about a license that is not usable', () => {
  check((given, { code }) => {
    if (['VALID', 'TOO_MANY_ACTIVATIONS', 'MACHINE_DEACTIVATED'].includes(code)) return;
    for (const byStaff of [true, false]) {
      expect(decideValidation({ ...given, byStaff, seat: undefined }).code).toBe(code);
    }
  });
});
