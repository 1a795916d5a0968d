import type { Generated } from 'kysely';
import type { UpdateEventType } from '../../../contract/machines.ts';
import type { Channel } from '../../../contract/versions.ts';

/** Machines as the update feeds know them. */
export type UpdatesTables = {
  machines: {
    machine_hash: Buffer;
    display_id: string;
    platform: string | null;
    architecture: string | null;
    channel: Channel | null;
    last_version: string | null;
    os_version: string | null;
    app_version: string | null;
    first_seen: Date;
    first_check: Date | null;
    last_seen: Date;
    last_check_day: Date | null;
    total_checks: Generated<number>;
    total_downloads: Generated<number>;
    total_events: Generated<number>;
    notes: string | null;
    proven_at: Date | null;
    validated_at: Date | null;
  };
  update_events: {
    event_id: string;
    occurred_at: Date;
    machine_hash: Buffer;
    event_type: UpdateEventType;
    success: boolean;
    from_version: string | null;
    to_version: string | null;
    release_id: string | null;
    error_code: string | null;
    error_message: string | null;
    written_order: Generated<number | null>;
  };
  update_event_ids: { event_id: string; seen_at: Date };
  downloads: {
    download_id: string;
    machine_hash: Buffer;
    release_id: string;
    version: string;
    started_at: Date;
    completed_at: Date | null;
    bytes_downloaded: number | null;
    error_code: string | null;
    installed_at: Date | null;
    install_failed: boolean | null;
    ever_failed: Generated<boolean>;
    failure_code: string | null;
    rolled_back: boolean | null;
    from_version: string | null;
    offered_at: Generated<Date | null>;
    fetched_at: Generated<Date | null>;
    by_delivery: Generated<boolean>;
    proven: Generated<boolean>;
  };
  update_days: { day: Date; total_checks: number; unique_machines: number };
};
