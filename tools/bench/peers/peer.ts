import type { Measured, Target } from '../load.ts';
import type { Stage } from '../stage.ts';

/** Rates of one job; `theirs` is what a user would pick instead, `bare` the upper bound of both. */
export type Comparison = { job: string; ours: Measured; theirs: Measured; bare: Measured };

/** Where a peer runs: in a folder with its packages, on a database of its own. */
export type Place = {
  stage: Stage;
  home: string;
  databaseUrl: string;
  /** How many records the lists have. */
  records: number;
  /** Starts a module, given as its text, that prints "ready" when it serves. Returns its address. */
  start: (module: string, env: Record<string, string>) => Promise<string>;
  /** The three in turn. */
  compare: (job: string, targets: Record<'ours' | 'theirs' | 'bare', Target>) => Promise<Comparison>;
};

export type Peer = { packages: readonly string[]; bench: (place: Place) => Promise<Comparison[]> };
