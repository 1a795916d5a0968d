import type { Generated } from 'kysely';

/** The installation itself: who it is, its keys, and the newest time it has seen. */
export type InstallationTables = {
  installation: {
    only_row: Generated<boolean>;
    installation_id: string;
  };
  newest_moment: { only_row: Generated<boolean>; at: Date };
  installation_keys: {
    purpose: 'signing' | 'secrets';
    key_id: string;
    state: 'next' | 'current' | 'retired' | 'lost';
    public_key: string | null;
    endorsed_by: string | null;
    endorsement: string | null;
    signature: string | null;
    added_at: Date;
    ended_at: Date | null;
  };
};
