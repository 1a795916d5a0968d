import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { keys } from '../../contract/keys.ts';
import { licenses } from '../../contract/licenses.ts';
import { offline } from '../../contract/offline.ts';
import { makeLicense, makeRelease } from '../../tests/factories.ts';
import { eventually, movableClock, startTestServer, type Api, type TestServer } from '../../tests/harness.ts';
import { newFolder } from '../../tests/place.ts';

/* The program of the example, as a person runs it in a terminal. */

const client = join(import.meta.dirname, '..');
const run = promisify(execFile);
let server: TestServer;
let staff: Api;
let place: string;
beforeAll(async () => {
  // the program has the clock of the machine
  server = await startTestServer({ clock: movableClock(new Date()) });
  staff = server.api((await server.signInAs('super_admin')).byCookie);
  place = await newFolder();
  await run(process.execPath, [join(client, '../node_modules/typescript/bin/tsc'), '-p', client]);
  const published = { data: await server.api().ok(keys.published) };
  await writeFile(join(place, 'keys.json'), JSON.stringify(published));
});

const desktopOf = (license: { licenseKey: string }, machine: string) => {
  const where = ['--server', server.url, '--license', license.licenseKey, '--keys', join(place, 'keys.json')];
  const who = ['--machine', machine, '--folder', join(place, machine)];
  /** What it prints, and whether it ended well. */
  return (...args: string[]) =>
    run(process.execPath, [join(client, 'example/desktop.mjs'), ...where, ...who, ...args]).then(
      ({ stdout }) => ({ ok: true, stdout, last: stdout.trim().split('\n').at(-1)! }),
      (error: { stdout: string }) => ({ ok: false, stdout: error.stdout, last: '' }),
    );
};

test('without a network it runs by a license file, and gives it back', async () => {
  const license = await makeLicense(staff, { maxActivations: 1 });
  const params = { id: license.licenseId };
  const desktop = desktopOf(license, 'ct-1');
  const refused = await desktop('--offline', 'check');
  expect([refused.ok, refused.stdout]).toEqual([
    false,
    expect.stringContaining('NOT VALID (none, NO_ANSWER)'),
  ]);
  const { stdout, last: request } = await desktop('--offline', 'request');
  expect(stdout).toContain('█▄▄▄');
  const { licenseFile } = await staff.ok(offline.issue, { params, body: { request } });
  const file = join(place, 'license.lic');
  await writeFile(file, licenseFile);
  expect((await desktopOf(license, 'ct-2')('--offline', 'import', file)).stdout).toContain('another machine');
  expect((await desktop('--offline', 'import', file)).stdout).toContain('Licensed until');
  expect((await desktop('--offline', 'check')).stdout).toContain('VALID (file, VALID)');
  const earlier = new Date(server.clock.now().getTime() - 86_400_000).toISOString();
  expect((await desktop('--offline', '--clock', earlier, 'check')).stdout).toContain('CLOCK_SET_BACK');
  const { last: receipt } = await desktop('--offline', 'give-back');
  expect((await desktop('--offline', 'check')).ok).toBe(false);
  await staff.ok(offline.giveBack, { params, body: { receipt } });
  expect((await staff.ok(licenses.get, { params })).currentActivations).toBe(0);
});

test('online it validates, and tells of its update', async () => {
  await makeRelease(server, {
    version: '1.1.0',
    platform: 'linux',
    fileKind: 'appimage',
    fileName: 'App.AppImage',
  });
  const desktop = desktopOf(await makeLicense(staff), 'ct-3');
  expect((await desktop('check')).stdout).toContain('VALID (online, VALID)');
  expect((await desktop('update')).last).toBe('Installed. Start again.');
  expect((await desktop('update')).last).toBe('1.1.0 is the newest version for this machine.');
  const types = [
    'check',
    'check',
    'download_complete',
    'download_start',
    'install_complete',
    'install_start',
  ];
  await eventually(async () => {
    const rows = await server.db.selectFrom('update_events').select('event_type').execute();
    expect(rows.map((row) => row.event_type).toSorted()).toEqual(types);
  });
});
