import type { ColumnType } from 'kysely';

/** Written as JSON text, which the driver would otherwise write as an array of the database. */
export type Json<T> = ColumnType<T, string | null | undefined, string | null>;
