/**
 * The version as Squirrel.Windows writes it: without build metadata, and without dots in the prerelease, as
 * electron-winstaller makes its packages (`1.2.0-beta.3` is `1.2.0-beta3`).
 */
export function squirrelVersion(version: string): string {
  const [numbers = '', ...tag] = version.replace(/\+.*$/, '').split('-');
  return tag.length === 0 ? numbers : `${numbers}-${tag.join('-').replaceAll('.', '')}`;
}

/**
 * The name under which RELEASES lists a package. Squirrel reads version and kind from the name alone, so it is made
 * from the release, whatever the uploaded file was called.
 */
export function squirrelName({ fileName, version }: { fileName: string; version: string }): string {
  const name = fileName.replace(/(-full|-delta)?\.nupkg$/i, '');
  const said = [version, squirrelVersion(version)].find((text) => name.endsWith(text));
  const packageId = (said === undefined ? name : name.slice(0, -said.length))
    .replace(/[-._ ]+$/, '')
    .replaceAll(/[^0-9A-Za-z._-]+/g, '_');
  return `${packageId || 'app'}-${squirrelVersion(version)}-full.nupkg`;
}
