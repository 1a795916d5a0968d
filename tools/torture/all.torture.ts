import { existsSync } from 'node:fs';
import { test } from 'vitest';
import { hasNginx } from '../../tests/nginx.ts';
import { rollingRestart } from './rolling-restart.ts';
import { silentFailover } from './silent-failover.ts';

test.skipIf(!hasNginx)('rolling restarts behind nginx lose no call [needs nginx]', rollingRestart);
test.skipIf(!existsSync('/usr/lib/postgresql/15/bin/initdb'))(
  'a database that falls silent, and a replica in its place [needs PostgreSQL 15]',
  silentFailover,
);
