import type { ApiKeyScope } from '../../contract/route.ts';
import { createBudgets } from '../../server/budgets.ts';
import type { Caller } from '../../server/caller.ts';
import type { Context } from '../../server/context.ts';
import type { WriteBehind } from '../../server/db/write-behind.ts';
import { createApiKey, createApiKeyCheck, revokeApiKey } from '../../server/features/api-keys/index.ts';
import { days, workingMoment } from './calendar.ts';
import type { Desktop } from './license-life.ts';
import { at, made, type Stage } from './stage.ts';

type Key = {
  name: string;
  scopes: ApiKeyScope[];
  ipWhitelist?: string[];
  /** Days before today. */
  made: number;
  revoked?: number;
  /** The number of requests, and the age of the last one in days. */
  used: number;
  lastUsed: number;
};

const keys: Key[] = [
  { name: 'Desktop app', scopes: ['validate', 'updates'], made: 500, used: 4200, lastUsed: 0 },
  {
    name: 'Build server',
    scopes: ['releases'],
    ipWhitelist: ['203.0.113.0/28'],
    made: 400,
    used: 76,
    lastUsed: 3,
  },
  { name: 'Desktop app 3.x', scopes: ['validate'], made: 505, revoked: 120, used: 900, lastUsed: 121 },
  { name: 'Support test bench', scopes: ['validate'], made: 60, used: 0, lastUsed: 0 },
];

/** Creates the API keys of the vendor's programs with realistic use. Returns the desktop's key and its caller. */
export async function makeKeys(
  stage: Stage & Pick<Context, 'signals'> & { behind: WriteBehind },
  by: Caller,
): Promise<{ apiKey: string; desktop: Desktop }> {
  const { db, random, now, signals, behind } = stage;
  const ago = (n: number) => now.getTime() - days(n);
  const all: { key: string; id: string }[] = [];
  let moment = now;
  const clock = () => moment;
  const budgets = createBudgets(stage, clock);
  const checkKey = createApiKeyCheck({ reserved: { db }, signals, clock }, budgets, behind);
  for (const { name, scopes, ipWhitelist, ...key } of keys) {
    const input = {
      name,
      scopes,
      ipWhitelist: ipWhitelist ?? [],
      expiresAt: new Date(ago(key.made) + days(730)).toISOString(),
      rateLimit: 100_000,
    };
    const from = workingMoment(random, ago(key.made), ago(key.made - 1));
    const one = await made(stage, at(by, from), (change) => createApiKey(change, input));
    all.push(one);
    for (let n = key.used; n > 0; n--) {
      moment = new Date(
        n === 1 ? ago(key.lastUsed) - 60_000 : workingMoment(random, from, ago(key.lastUsed)),
      );
      await checkKey(one.key, '203.0.113.5');
    }
    if (key.revoked !== undefined) {
      const end = workingMoment(random, ago(key.revoked), ago(key.revoked - 1));
      await made(stage, at(by, end), (change) => revokeApiKey(change, one.id));
    }
  }
  await budgets.stop();
  const [{ key: apiKey, id: apiKeyId }] = all as [(typeof all)[number]];
  return {
    apiKey,
    desktop: {
      actor: { kind: 'apiKey', apiKeyId, name: 'Desktop app', scopes: ['validate', 'updates'] },
      now: new Date(0),
      ip: '198.51.100.7',
      userAgent: 'Lanyard desktop',
      requestId: '',
      endpoint: 'POST /api/licenses/validate',
    },
  };
}
