/**
 * The version in the format of Squirrel.Windows: without build metadata, and without dots in the prerelease, as in
 * packages of electron-winstaller (`1.2.0-beta.3` is `1.2.0-beta3`).
 */
export function squirrelVersion(version: string): string {
  const [numbers = '', ...tag] = version.replace(/\+.*$/, '').split('-');
  return tag.length === 0 ? numbers : `${numbers}-${tag.join('-').replaceAll('.', '')}`;
}

/**
 * The name of a package in RELEASES. Squirrel parses version and kind from the name, so it is derived from the release
 * instead of the uploaded file's name.
 */
export function squirrelName({ fileName, version }: { fileName: string; version: string }): string {
  const name = fileName.replace(/(-full|-delta)?\.nupkg$/i, '');
  const suffix = [version, squirrelVersion(version)].find((text) => name.endsWith(text));
  const packageId = (suffix === undefined ? name : name.slice(0, -suffix.length))
    .replace(/[-._ ]+$/, '')
    .replaceAll(/[^0-9A-Za-z._-]+/g, '_');
  return `${packageId || 'app'}-${squirrelVersion(version)}-full.nupkg`;
}
