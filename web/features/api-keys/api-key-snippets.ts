import type { ApiKeyScope } from '../../../contract/route.ts';

export type Snippet = { title: string; note: string; text: string };

/** Next steps for a new key, by its scopes; the key itself appears in none of them. */
export function snippetsFor(scopes: readonly ApiKeyScope[], server: string): Snippet[] {
  const may = (scope: ApiKeyScope) => scopes.includes(scope);
  return [
    ...(may('validate') ? [validating(server)] : []),
    ...(may('updates') || may('releases') ? [building(server)] : []),
    ...(may('releases') ? [publishing(server)] : []),
  ];
}

const validating = (server: string): Snippet => ({
  title: 'Validate a license',
  note: 'In a shell, with the key in LANYARD_API_KEY.',
  text: `curl -s ${server}/api/licenses/validate \\
  -H "X-API-Key: $LANYARD_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"licenseKey":"…","machineId":"ws-07"}'`,
});

const building = (server: string): Snippet => ({
  title: 'electron-builder: publish',
  note: 'Where the program checks for updates. It sends a key with the scope Updates: autoUpdater.requestHeaders.',
  text: `win:
  publish:
    provider: generic
    url: ${server}/api/v1/updates/electron/win32/x64
mac:
  publish:
    provider: generic
    url: ${server}/api/v1/updates/electron/darwin/arm64`,
});

const publishing = (server: string): Snippet => ({
  title: 'Publish a release from CI',
  note: 'In the checkout of Lanyard, with the key in LANYARD_API_KEY; a draft unless --publish is given.',
  text: `npm run publish-release -- --server ${server} \\
  --file "dist/App Setup 1.2.3.exe" --version 1.2.3 \\
  --platform win32 --architecture x64 --publish --rollout 10`,
});
