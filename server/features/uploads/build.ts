import type { BuildInput } from '../../../contract/builds.ts';
import { fail, type Failure } from '../../failure.ts';
import { embeddedBlockmapSize } from '../../binaries/blockmap.ts';
import { refuseKind, type FileKind } from '../../../contract/file-content.ts';
import { acceptedKindOf } from '../../binaries/file-kind.ts';
import type { Findings } from '../../binaries/inspect-worker.ts';
import { stampOf } from '../../binaries/stamp.ts';
import { blockmapKeyOf } from '../../binaries/storage-key.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewRelease } from '../releases/index.ts';

/** Why received data does not match; `expected` has only the values that the client sent. */
export function checkFindings(
  kind: FileKind,
  expected: { size?: number | undefined; sha512?: string | undefined },
  findings: Findings,
): Failure | undefined {
  const { size, sha512 } = findings;
  if (size === 0) return fail('RULE_VIOLATED', 'The file is empty.');
  if (expected.size !== undefined && expected.size !== size)
    return fail('RULE_VIOLATED', `The file has ${size} bytes, not ${expected.size}.`);
  if (expected.sha512 !== undefined && expected.sha512 !== sha512) {
    return fail(
      'RULE_VIOLATED',
      `The SHA-512 of what arrived is ${sha512}, and not ${expected.sha512}, as the sender said.`,
    );
  }
  const reason = refuseKind(kind, findings);
  return reason === undefined ? undefined : fail('RULE_VIOLATED', reason);
}

/** The build of a checked and stored file. */
export async function toBuild(
  storage: Storage,
  file: { name: string; key: string },
  findings: Findings,
  fields: BuildInput,
): Promise<NewRelease> {
  const { size, sha512, sha1, blockmap } = findings;
  const fileKind = acceptedKindOf(file.name);
  const blockmapKey = blockmap ? blockmapKeyOf(file.key) : null;
  return {
    ...fields,
    fileName: file.name,
    fileKind,
    fileSize: size,
    sha512,
    sha1,
    storageKey: file.key,
    storageStamp: (await stampOf(storage, { key: file.key, blockmapKey })) ?? null,
    blockmapKey,
    embeddedBlockmapSize:
      fileKind === 'appimage' ? await embeddedBlockmapSize(storage, file.key, findings) : null,
  };
}
