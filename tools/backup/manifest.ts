import { z } from 'zod';
import { CannotStart } from '../../server/cannot-start.ts';

export const manifestName = 'manifest.json';
export const sumName = 'manifest.sha256';
/** Version of the archive format; raised when an older Lanyard could not restore it. */
export const formatVersion = 1;

/** Also of tables that others made in the database: a backup has them, and a restore skips them. */
const identifier = z.string().min(1);

const manifest = z.object({
  format: z.literal(formatVersion),
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
    partitions: z.array(
      z.object({
        name: identifier,
        parent: identifier,
        /** As PostgreSQL prints them. */
        bounds: z.string(),
      }),
    ),
    sequences: z.array(
      z.object({ name: identifier, lastValue: z.string().regex(/^-?\d+$/), isCalled: z.boolean() }),
    ),
  }),
  /** Storage of the binaries, if they are not in the archive. */
  binariesElsewhere: z.string().optional(),
  entries: z.record(
    z.string(),
    z.object({ size: z.number().int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** Describes an archive: its origin, its content, and the hash of each entry. */
export type Manifest = z.output<typeof manifest>;
export type DatabaseContent = Manifest['database'];

/** Parses the manifest of `file`. Throws CannotStart if a newer version wrote it. */
export function manifestOf(text: string, file: string): Manifest {
  const data = JSON.parse(text) as { format?: unknown; version?: unknown };
  if (data.format !== formatVersion)
    throw new CannotStart(
      `${file} was made by a newer Lanyard (${String(data.version)}). Restore it with that version.`,
    );
  return manifest.parse(data);
}
