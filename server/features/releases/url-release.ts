import { isStorableText } from '../../../contract/common.ts';
import { fileNameAt } from '../../../contract/fed-kinds.ts';
import type { Release, UrlReleaseInput } from '../../../contract/releases.ts';
import { storedExtensionOf, storedExtensions } from '../../../contract/uploads.ts';
import type { Change } from '../../change.ts';
import { breaksRule, type Failure } from '../../failure.ts';
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
  const url = new URL(input.fileUrl);
  // the feeds send the URL to every machine
  if (url.username || url.password)
    return breaksRule('fileUrl', 'Must not contain a user name or a password');
  const file = fileOf(url);
  if (!file) {
    return breaksRule('fileUrl', `Must end in a file name with one of ${storedExtensions.join(', ')}`);
  }
  return (await probeFile(outbound, input)) ?? file;
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

function fileOf(url: URL): ExternalFile | undefined {
  const fileName = fileNameAt(url);
  const ending = storedExtensionOf(fileName);
  const usable = fileName.length <= 200 && !/^\.|[\\/]/.test(fileName) && isStorableText(fileName);
  return ending && usable ? { fileName, fileKind: ending.slice(1).toLowerCase() } : undefined;
}
