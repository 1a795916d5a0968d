import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anySign } from '../../../tests/any-sign.ts';
import { licenseKeyFragment, newLicenseKey, parseLicenseKey } from './license-key.ts';

const signs = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const key = fc.constantFrom('trial' as const, 'enterprise' as const).map(newLicenseKey);
const replaceAt = (text: string, at: number, sign: string) => text.slice(0, at) + sign + text.slice(at + 1);

describe('a license key', () => {
  test('is five groups of five signs without I, L, O and U, and tells its type', () => {
    fc.assert(
      fc.property(key, (made) => {
        expect(made).toMatch(/^[ET][0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
        expect(parseLicenseKey(made)).toBe(made);
      }),
      { seed: 1 },
    );
    expect(newLicenseKey('trial')[0]).toBe('T');
    expect(newLicenseKey('enterprise')[0]).toBe('E');
  });

  test('is never made twice, and has every sign at each of its random places', () => {
    const made = Array.from({ length: 5000 }, () => newLicenseKey('trial').replaceAll('-', ''));
    expect(new Set(made).size).toBe(5000);
    for (let at = 1; at < 24; at++) expect(new Set(made.map((one) => one[at])).size).toBe(signs.length);
  });

  test('tells every single wrong sign', () => {
    const made = newLicenseKey('enterprise').replaceAll('-', '');
    for (let at = 0; at < made.length; at++) {
      for (const sign of signs) {
        const typed = replaceAt(made, at, sign);
        expect(parseLicenseKey(typed) === undefined, typed).toBe(typed !== made);
      }
    }
  });

  test('tells nearly every swap of neighbors', () => {
    let [swapped, missed] = [0, 0];
    for (let round = 0; round < 400; round++) {
      const made = newLicenseKey('trial').replaceAll('-', '');
      for (let at = 1; at < made.length - 1; at++) {
        const typed = made.slice(0, at) + made[at + 1] + made[at] + made.slice(at + 2);
        if (typed === made) continue;
        swapped++;
        if (parseLicenseKey(typed)) missed++;
      }
    }
    expect(missed / swapped).toBeLessThan(0.01);
  });

  test('is read however it was typed', () => {
    const anyCase = fc.func(fc.boolean());
    const gap = fc.constantFrom('', ' ', '-', ' - ', '–', '\u00a0', '\t', '_', '\u200b', '\u00ad');
    const mark = fc.constantFrom('.', '\u200b" ', '”\ufeff', '`).');
    fc.assert(
      fc.property(key, anyCase, gap, fc.oneof(gap, mark), (made, upper, between, around) => {
        const typed = made
          .split('')
          .map((sign, at) => (upper(at) ? sign : sign.toLowerCase()))
          .join('');
        expect(parseLicenseKey(around + typed.replaceAll('-', between) + around)).toBe(made);
      }),
      { seed: 2 },
    );
  });

  test('is found by each of its groups, also by one without a digit, which words of four letters are not', () => {
    const groups = Array.from({ length: 200 }, () => newLicenseKey('trial').split('-')).flat();
    expect(groups.filter((group) => !/\d/.test(group))).not.toEqual([]);
    for (const group of groups) expect(licenseKeyFragment(group)).toBe(group.toLowerCase());
    expect(['lyon', 'WS-08', 'b7c1'].map(licenseKeyFragment)).toEqual([undefined, 'ws08', 'b7c1']);
  });

  test('is nothing else, whatever is typed', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anySign }),
          fc.string({ unit: fc.constantFrom(...signs.split(''), '-', ' ') }),
        ),
        (typed) => {
          const read = parseLicenseKey(typed);
          if (read !== undefined) expect(parseLicenseKey(read)).toBe(read);
        },
      ),
      { seed: 3, numRuns: 2000 },
    );
    for (const typed of ['', '-----', 'E'.repeat(24), 'İ'.repeat(25), 'ß'.repeat(25), '0'.repeat(25)]) {
      expect(parseLicenseKey(typed), typed).toBeUndefined();
    }
  });
});
