import type { Architecture, Platform } from '../contract/builds.ts';

/** What platforms and architectures are called on the screen (spec part 2, section 2.1). */
export const platformNames: Record<Platform, string> = { win32: 'Windows', darwin: 'macOS', linux: 'Linux' };
export const architectureNames: Record<Architecture, string> = { x64: 'x64', arm64: 'arm64', ia32: 'x86' };
