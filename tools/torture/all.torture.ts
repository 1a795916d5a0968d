import { existsSync } from 'node:fs';
import { afterAll, test } from 'vitest';
import { hasNginx } from '../../tests/nginx.ts';
import { container, containerWithDatabase } from './container.ts';
import { buildByHand, buildWithBuildah, hasBuildah } from './image.ts';
import { postgresSources, postgresVersion } from './postgres-versions.ts';
import { rollingRestart } from './rolling-restart.ts';
import { silentFailover } from './silent-failover.ts';
import { printTable } from './table.ts';
import { hasSystemd, systemd } from './systemd.ts';

afterAll(printTable);

const hasPostgres15 = existsSync('/usr/lib/postgresql/15/bin/initdb');

test.skipIf(!hasNginx)('rolling restarts behind nginx lose no call [needs nginx]', rollingRestart);
test.skipIf(!hasPostgres15)(
  'a database that falls silent, and a replica in its place [needs PostgreSQL 15]',
  silentFailover,
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
