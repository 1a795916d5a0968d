import type { Generated } from 'kysely';

/** The tables of saved views, see `tables.ts`. */
export type ViewTables = {
  saved_views: {
    view_id: string;
    list: string;
    name: string;
    query: string;
    shared: boolean;
    owner_id: string | null;
    created_at: Date;
    updated_at: Date;
    deleted_at: Generated<Date | null>;
  };
};
