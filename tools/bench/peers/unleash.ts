import { randomUUID } from 'node:crypto';
import { dataOf } from '../stage.ts';
import { updateChecks } from '../updates.ts';
import type { Peer } from './peer.ts';

const server = `
  import { start } from 'unleash-server';
  await start({ server: { host: '127.0.0.1', port: Number(process.env.PORT) } });
  console.log('ready');
`;

const client = '*:development.bench0000000000000000000000';
const staff = '*:*.bench0000000000000000000001';
const flags = 50;
const limits = ['REGISTER_CLIENT', 'CLIENT_METRICS'].map((name) => `${name}_RATE_LIMIT_PER_MINUTE`);

/** What a client asks for and reports; their features are the same for every client. */
export const unleash: Peer = {
  packages: ['unleash-server'],
  async bench({ stage, databaseUrl, start, compare }) {
    const url = await start(server, {
      DATABASE_URL: databaseUrl,
      DATABASE_SSL: 'false',
      INIT_CLIENT_API_TOKENS: client,
      INIT_ADMIN_API_TOKENS: staff,
      ...Object.fromEntries(limits.map((name) => [name, '100000000'])),
      LOG_LEVEL: 'error',
      CHECK_VERSION: 'false',
      SEND_TELEMETRY: 'false',
      NODE_ENV: 'production',
    });
    const features = `${url}/api/admin/projects/default/features`;
    for (let n = 0; n < flags; n++) await dataOf(features, { authorization: staff }, { name: `flag-${n}` });
    const { ours, bare, sample, apiKey } = stage;
    const headers = { authorization: client };
    const row = (n: number) => ({ path: `/row?key=${sample[n % sample.length]!.licenseKey}` });
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const bucket = (n: number) => ({
      start: at(-1),
      stop: at(0),
      toggles: { [`flag-${n % flags}`]: { yes: 1, no: 0 } },
    });
    return [
      await compare('update check, beside the features of a client', {
        ours: updateChecks(stage, 0).byApiKey,
        theirs: { url: `${url}/api/client/features`, headers },
        bare: { url: bare, next: row },
      }),
      await compare('report an update event, beside metrics of a client', {
        ours: {
          url: `${ours}/api/v1/updates/events`,
          method: 'POST',
          headers: { 'x-api-key': apiKey },
          next: (n) => ({
            body: {
              events: [
                {
                  eventId: randomUUID(),
                  machineId: sample[n % sample.length]!.machineId,
                  eventType: 'download_start',
                  platform: 'win32',
                  toVersion: '4.31.3',
                },
              ],
            },
          }),
        },
        theirs: {
          url: `${url}/api/client/metrics`,
          method: 'POST',
          headers,
          next: (n) => ({
            body: { appName: 'bench', instanceId: `machine-${n % 5000}`, bucket: bucket(n) },
          }),
        },
        bare: { url: `${bare}/plain` },
      }),
    ];
  },
};
