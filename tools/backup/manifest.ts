import { z } from 'zod';
import { CannotStart } from '../../server/cannot-start.ts';

export const manifestName = 'manifest.json';
export const sumName = 'manifest.sha256';
/** How the archive is made up; raised when an older version could not restore it. */
export const formatOf = 1;

const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/);
/** What PostgreSQL says of a partition of a range. */
const bounds = z
  .string()
  .regex(/^FOR VALUES FROM \((MINVALUE|'[^']+')\) TO \((MAXVALUE|'[^']+')\)$|^DEFAULT$/);

const manifest = z.object({
  format: z.literal(formatOf),
  /** ISO 8601. */
  madeAt: z.iso.datetime(),
  /** Of Lanyard. */
  version: z.string(),
  database: z.object({
    /** The migrations that made the schema. */
    migrations: z.array(z.string()),
    tables: z.array(
      z.object({ name: identifier, columns: z.array(identifier), rows: z.number().int().min(0) }),
    ),
    partitions: z.array(z.object({ name: identifier, parent: identifier, bounds })),
    sequences: z.array(
      z.object({ name: identifier, lastValue: z.string().regex(/^\d+$/), isCalled: z.boolean() }),
    ),
  }),
  /** Where the binaries lie that are not in the archive. */
  binariesElsewhere: z.string().optional(),
  entries: z.record(
    z.string(),
    z.object({ size: z.number().int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** What an archive says of itself: where it comes from, what is in it, and the hash of each part. */
export type Manifest = z.output<typeof manifest>;
export type DatabaseContent = Manifest['database'];

/** Reads the manifest of `file`. Throws CannotStart where a newer version wrote it. */
export function manifestOf(text: string, file: string): Manifest {
  const data = JSON.parse(text) as { format?: unknown; version?: unknown };
  if (data.format !== formatOf)
    throw new CannotStart(
      `${file} was made by a newer Lanyard (${String(data.version)}). Restore it with that.`,
    );
  return manifest.parse(data);
}
