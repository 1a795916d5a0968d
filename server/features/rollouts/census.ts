import { sql } from 'kysely';
import type { Release } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';
import { createKept } from './kept.ts';
import { wouldTake } from '../releases/index.ts';

type Group = {
  platform: string;
  architecture: string;
  channel: Channel;
  runs: string | null;
  machines: number;
};

export type Census = () => Promise<readonly Group[]>;

/** Machines by everything that decides about offers, counted once for all releases and all users. */
export function createCensus(db: Db): Census {
  const kept = createKept<Group[]>(1);
  return () => kept('all', () => countMachines(db));
}

async function countMachines(db: Db): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select platform, architecture, coalesce(channel, 'stable') as channel, last_version as runs, count(*) as machines
      from machines where platform is not null and architecture is not null group by 1, 2, 3, 4`.execute(db);
  return rows;
}

/** Machines that run a release, and those that could: these and the ones that would be offered it at 100 %. */
export function reachedIn(groups: readonly Group[], release: Release): { running: number; eligible: number } {
  const sum = (some: readonly Group[]) => some.reduce((all, { machines }) => all + machines, 0);
  const { platform, architecture, version, minimumAppVersion } = release;
  const own = groups.filter((group) => group.platform === platform && group.architecture === architecture);
  const build = { ...release, minimumAppVersion: minimumAppVersion ?? undefined };
  const running = sum(own.filter(({ runs }) => runs === version));
  return { running, eligible: running + sum(own.filter((group) => wouldTake(build, group))) };
}
