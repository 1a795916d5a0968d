import { kindOf, type FileKind } from '../../contract/file-content.ts';
import type { Wanted } from './inspect-worker.ts';
import { present } from '../invariants.ts';

/** The kind of a file that was accepted, so that its extension is known. */
export const acceptedKindOf = (fileName: string): FileKind =>
  present(kindOf(fileName), 'the extension was checked when the file was accepted');

/** What the updaters need: Squirrel.Windows a SHA-1, electron-updater a block map (an AppImage contains its own). */
export const wantedOf = (kind: FileKind): Wanted => ({
  sha1: kind === 'nupkg',
  blockmap: kind === 'exe' || kind === 'dmg' || kind === 'zip',
});
