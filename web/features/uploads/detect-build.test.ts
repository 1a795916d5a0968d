import { describe, expect, test } from 'vitest';
import { architectureOf, isAccepted, platformOf } from './detect-build.ts';

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
