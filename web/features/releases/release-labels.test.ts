import { expect, test } from 'vitest';
import { ApiError, errorOf } from '../../api-error.ts';
import { buildText, inSeveralKinds, releaseProblem, shortPlatformText } from './release-labels.ts';
import { platformText } from '../../platform-text.ts';

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
  const build = { version: '2.4.1', channel: 'beta', platform: 'win32', architecture: 'x64' } as const;
  const setup = { ...build, fileName: 'Setup.exe' };
  const squirrel = { ...build, fileName: 'App-2.4.1-full.nupkg' };
  expect(buildText(setup)).toBe('2.4.1 (beta) for Windows (x64)');
  expect(buildText(squirrel)).toBe('2.4.1 (beta) for Windows (x64), .nupkg');
  const other = { ...setup, architecture: 'arm64' } as const;
  expect([...inSeveralKinds([setup, other, squirrel])]).toEqual([setup, squirrel]);
});

test('says what the server says, and the words of the spec where it says nothing', () => {
  const otherwise = 'Failed to restore release';
  expect(releaseProblem(errorOf(409, '{"error":"Exists already"}'), otherwise)).toBe('Exists already');
  expect(releaseProblem(errorOf(502, ''), otherwise)).toBe(otherwise);
  expect(releaseProblem(errorOf(500, '{}'), otherwise)).toBe(otherwise);
  expect(releaseProblem(new ApiError(0, 'The server cannot be reached.'), otherwise)).toBe(
    'The server cannot be reached.',
  );
  expect(releaseProblem('nothing', otherwise)).toBe(otherwise);
});
