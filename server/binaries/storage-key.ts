import { v7 as uuidv7 } from 'uuid';
import { storedExtensions } from '../../contract/uploads.ts';
import { kindOf, type FileKind } from './file-kind.ts';

/** A name in the storage that no other file has. */
export const newFileKey = (kind: FileKind) => `${uuidv7()}.${kind}`;

/** Where the block map of a stored file lies. */
export const blockmapKeyOf = (fileKey: string) => `${fileKey}.blockmap`;

/** Where the file lies of which this is the block map; a file's own key stays as it is. */
export const fileKeyOf = (key: string) => key.replace(/\.blockmap$/, '');

const ownKey = new RegExp(
  `^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.(?:${storedExtensions.map(kindOf).join('|')})$`,
);

/** Whether we gave this name, to a file or to its block map: what else lies in a storage is somebody else's. */
export const isOwnKey = (key: string) => ownKey.test(fileKeyOf(key));
