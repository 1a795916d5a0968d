import { kindOf } from '../../../contract/fed-kinds.ts';
import { fileNameAt } from '../../../contract/file-names.ts';
import type { Release, UrlReleaseInput } from '../../../contract/releases.ts';
import type { Change } from '../../change.ts';
import type { Failure } from '../../failure.ts';
import type { Outbound } from '../../outbound-http.ts';
import { probeFile } from './probe.ts';
import { createRelease } from './releases.ts';

/** The properties of an external file derived from its URL, after its server confirmed it. */
type ExternalFile = { fileName: string; fileKind: string };

/** Checks that the file of a release exists at its URL. Takes up to 5 s. */
export async function checkExternalFile(
  outbound: Outbound,
  input: UrlReleaseInput,
): Promise<ExternalFile | Failure> {
  const fileName = fileNameAt(new URL(input.fileUrl));
  return (await probeFile(outbound, input)) ?? { fileName, fileKind: kindOf(fileName) };
}

/** Creates a release with an external file. */
export function createUrlRelease(
  change: Change,
  { fileUrl, ...input }: UrlReleaseInput,
  file: ExternalFile,
): Promise<Release | Failure> {
  const build = { ...input, ...file, sha1: null, blockmapKey: null, externalUrl: new URL(fileUrl).href };
  return createRelease(change, build);
}
