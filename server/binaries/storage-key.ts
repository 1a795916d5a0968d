import { v7 as uuidv7 } from 'uuid';
import { storedExtensions } from '../../contract/file-names.ts';
import { kindOf, type FileKind } from '../../contract/file-content.ts';

/** A new, unique storage key. */
export const newFileKey = (kind: FileKind) => `${uuidv7()}.${kind}`;

/** The storage key of a file's block map. */
export const blockmapKeyOf = (fileKey: string) => `${fileKey}.blockmap`;

/** The key of the file that a block map belongs to; the key of a file is returned unchanged. */
export const fileKeyOf = (key: string) => key.replace(/\.blockmap$/, '');

const ownKey = new RegExp(
  `^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.(?:${storedExtensions.map(kindOf).join('|')})$`,
);

/** Whether Lanyard made this key, for a file or its block map. Other objects in the storage are left alone. */
export const isOwnKey = (key: string) => ownKey.test(fileKeyOf(key));
