import { afterAll, afterEach, test } from 'vitest';
import { hasNginx } from '../../tests/run-nginx.ts';
import { closeOpened } from '../../tests/opened.ts';
import { hasPgBouncer } from '../../tests/pgbouncer.ts';
import { postgresBin } from '../../tests/postgres.ts';
import { container, containerWithDatabase } from './container.ts';
import { buildByHand, buildWithBuildah, hasBuildah } from './image.ts';
import { postgresSources, postgresVersion } from './postgres-versions.ts';
import { clockJumps } from './clock-jumps.ts';
import { fullDisks } from './full-disks.ts';
import { killDatabase, killServers } from './kill.ts';
import { pooler } from './poolers.ts';
import { rollingRestart } from './rolling-restart.ts';
import { silentFailover } from './silent-failover.ts';
import { soak } from './soak.ts';
import { printTable } from './table.ts';
import { hasSystemd, systemd } from './systemd.ts';
import { earlierTag, upgrade } from './upgrade.ts';

afterEach(() => closeOpened());
afterAll(printTable);

test.skipIf(!hasNginx)('rolling restarts behind nginx lose no call [needs nginx]', rollingRestart);
test.skipIf(!postgresBin)(
  'a failover to a replica after the database stops responding [needs postgresql]',
  silentFailover,
);
test.skipIf(!hasNginx)('killed processes behind nginx lose no call [needs nginx]', killServers);
test('a killed database restarts without losing acknowledged changes', killDatabase);
test.skipIf(process.getuid?.() !== 0 || !postgresBin)(
  'the disks of the database and of the journal are full [needs root, postgresql]',
  fullDisks,
);
test('clock jumps delete nothing', clockJumps);
test.skipIf(!hasPgBouncer).each(['session', 'transaction'] as const)(
  'a restart of PgBouncer in %s mode [needs pgbouncer]',
  pooler,
);
test('minutes of load lose no record and leak no memory', soak);
test.skipIf(!hasNginx || !earlierTag)(
  'an upgrade behind nginx, with both versions running, loses no call [needs nginx, a tag of an earlier version]',
  upgrade,
);
const canRunContainers = process.getuid?.() === 0 && postgresBin !== undefined;
test.skipIf(!canRunContainers)(
  'an image of the Containerfile runs read-only and without root [needs root, postgresql]',
  () => container(buildByHand),
);
test.skipIf(process.getuid?.() !== 0)(
  'the image with the embedded database runs twice on its volume [needs root]',
  () => containerWithDatabase((temp) => buildByHand(temp, { EMBEDDED: 'yes' })),
);
test.skipIf(!canRunContainers || !hasBuildah)(
  'an image built by Buildah runs read-only and without root [needs root, postgresql, buildah]',
  () => container(buildWithBuildah),
);
for (const [name, source] of postgresSources)
  test(`PostgreSQL ${name}`, ({ skip }) => postgresVersion(source, skip));
test.skipIf(!hasSystemd)(
  'the systemd unit runs with its limits and the embedded database [needs root, systemd]',
  systemd,
);
