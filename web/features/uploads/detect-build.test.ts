import { describe, expect, test } from 'vitest';
import { architectureOf, isAccepted, isVersionOf, platformOf, versionOf } from './detect-build.ts';

describe('the platform follows from the extension', () => {
  test.each([
    ['App Setup 1.2.3.exe', 'win32'],
    ['App-1.2.3-full.nupkg', 'win32'],
    ['App-1.2.3.dmg', 'darwin'],
    ['App-1.2.3-mac.zip', 'darwin'],
    ['APP.DMG', 'darwin'],
    ['app.exe.zip', 'darwin'],
    ['app.dmg.exe', 'win32'],
    ['app.AppImage', 'win32'],
    ['app', 'win32'],
  ])('%s is %s', (name, platform) => expect(platformOf(name)).toBe(platform));
});

describe('the architecture follows from the name', () => {
  test.each([
    ['App-1.2.3-arm64.dmg', 'arm64'],
    ['App-1.2.3-ARM64.dmg', 'arm64'],
    ['app_aarch64.zip', 'arm64'],
    ['App-ia32.exe', 'ia32'],
    ['app-i386.exe', 'ia32'],
    ['app-x86.exe', 'ia32'],
    ['app-x86_64.exe', 'x64'],
    ['app-x86_64-ia32.exe', 'ia32'],
    ['app-x86_64-i386.exe', 'ia32'],
    ['app-arm64-x86.exe', 'arm64'],
    ['app-x64.exe', 'x64'],
    ['App Setup 1.2.3.exe', 'x64'],
  ])('%s is %s', (name, architecture) => expect(architectureOf(name)).toBe(architecture));
});

test('takes .exe, .dmg, .zip and .nupkg, however they are written', () => {
  expect(['a.exe', 'a.dmg', 'a.zip', 'a.nupkg', 'A.EXE'].every(isAccepted)).toBe(true);
  expect(['a.msi', 'exe', 'a.exe.txt', 'a.AppImage', ''].some(isAccepted)).toBe(false);
});

describe('the version is read from the name', () => {
  test.each([
    ['App Setup 4.3.0.exe', '4.3.0'],
    ['App-Setup-2.4.1.exe', '2.4.1'],
    ['app-v2.4.1-x64.exe', '2.4.1'],
    ['App-2.4.1-beta.3-arm64.dmg', '2.4.1-beta.3'],
    ['App-2.4.1-mac.zip', '2.4.1'],
    ['MyApp-1.2.0-beta3-full.nupkg', '1.2.0-beta.3'],
    ['MyApp-1.2.0-full.nupkg', '1.2.0'],
    ['my.app64.1.2.0.nupkg', '1.2.0'],
    ['Setup.exe', undefined],
    ['app-1.2.exe', undefined],
    ['app-01.2.3.exe', undefined],
  ])('%s: %s', (name, version) => expect(versionOf(name)).toBe(version));

  test('and compared with the one that is typed', () => {
    expect(isVersionOf('1.2.0-beta.3', '1.2.0-beta3')).toBe(true);
    expect(isVersionOf('1.2.0+7', '1.2.0')).toBe(true);
    expect(isVersionOf('1.2.1', '1.2.0')).toBe(false);
    expect(isVersionOf('1.2.0', '1.2.0-beta.1')).toBe(false);
  });
});
