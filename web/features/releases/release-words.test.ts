import { expect, test } from 'vitest';
import { buildText, platformText, shortPlatformText } from './release-words.ts';

test('names platform and architecture', () => {
  expect(platformText('win32', 'ia32')).toBe('Windows (x86)');
  expect(platformText('darwin', 'x64')).toBe('macOS (x64)');
  expect(platformText('linux', null)).toBe('Linux (Unknown)');
  expect(platformText(null, null)).toBe('Unknown');
  expect(platformText('freebsd', 'riscv')).toBe('freebsd (riscv)');
});

test('leaves x64 out where the spec does', () => {
  expect(shortPlatformText('win32', 'x64')).toBe('Windows');
  expect(shortPlatformText('darwin', 'arm64')).toBe('macOS (arm64)');
});

test('tells the builds of a version apart', () => {
  expect(buildText({ version: '2.4.1', channel: 'beta', platform: 'win32', architecture: 'x64' })).toBe(
    '2.4.1 (beta) for Windows (x64)',
  );
});
