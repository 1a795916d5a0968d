import { existsSync } from 'node:fs';
import { afterAll, test } from 'vitest';
import { hasNginx } from '../../tests/nginx.ts';
import { hasPgBouncer } from '../../tests/pgbouncer.ts';
import { container, containerWithDatabase } from './container.ts';
import { buildByHand, buildWithBuildah, hasBuildah } from './image.ts';
import { postgresSources, postgresVersion } from './postgres-versions.ts';
import { clockJumps } from './clock-jumps.ts';
import { fullDisks } from './full-disks.ts';
import { hungStorage } from './hung-storage.ts';
import { killDatabase, killServers } from './kill.ts';
import { locks } from './locks.ts';
import { pooler } from './poolers.ts';
import { rollingRestart } from './rolling-restart.ts';
import { silentFailover } from './silent-failover.ts';
import { soak } from './soak.ts';
import { printTable } from './table.ts';
import { hasSystemd, systemd } from './systemd.ts';
import { earlierTag, upgrade } from './upgrade.ts';

afterAll(printTable);

const hasPostgres15 = existsSync('/usr/lib/postgresql/15/bin/initdb');

test.skipIf(!hasNginx)('rolling restarts behind nginx lose no call [needs nginx]', rollingRestart);
test.skipIf(!hasPostgres15)(
  'a database that falls silent, and a replica in its place [needs PostgreSQL 15]',
  silentFailover,
);
test.skipIf(!hasNginx)('killed processes behind nginx lose no call [needs nginx]', killServers);
test('a killed database comes back and has all that was acknowledged', killDatabase);
test('a license that somebody holds stops nothing else', locks);
test.skipIf(process.getuid?.() !== 0 || !hasPostgres15)(
  'full disks of the database and of the journal [needs root, PostgreSQL 15]',
  fullDisks,
);
test('a bucket that hangs stops uploads alone', hungStorage);
test('a clock that jumps deletes nothing', clockJumps);
test.skipIf(!hasPgBouncer).each(['session', 'transaction'] as const)(
  'a pooler in %s mode that is restarted [needs pgbouncer]',
  pooler,
);
test('minutes of work leave every record and no memory behind', soak);
test.skipIf(!hasNginx || !earlierTag)(
  'an upgrade behind nginx, last version and this one side by side, loses no call [needs nginx, a tag of an earlier version]',
  upgrade,
);
const canContain = process.getuid?.() === 0 && hasPostgres15;
test.skipIf(!canContain)(
  'the steps of the Containerfile, run read-only and without root [needs root, PostgreSQL 15]',
  () => container(buildByHand),
);
test.skipIf(process.getuid?.() !== 0)(
  'the same with the embedded database in it, run twice [needs root]',
  () => containerWithDatabase((temp) => buildByHand(temp, { EMBEDDED: 'yes' })),
);
test.skipIf(!canContain || !hasBuildah)(
  'the image that Buildah makes, run read-only and without root [needs root, PostgreSQL 15, buildah]',
  () => container(buildWithBuildah),
);
for (const [name, source] of postgresSources)
  test(`PostgreSQL ${name}`, ({ skip }) => postgresVersion(source, skip));
test.skipIf(!hasSystemd)(
  'the unit under systemd, with its limits and the embedded database [needs root, systemd]',
  systemd,
);
