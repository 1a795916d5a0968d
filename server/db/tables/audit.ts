import type { ColumnType, Generated } from 'kysely';

/** The audit log and its chain. */
export type AuditTables = {
  audit_entries: {
    audit_id: string;
    timestamp: Date;
    user_id: string | null;
    user_email: string | null;
    user_role: string | null;
    event_type: string;
    resource_type: string;
    resource_id: string | null;
    changes_summary: string;
    before: ColumnType<unknown, string | null, never>;
    after: ColumnType<unknown, string | null, never>;
    api_endpoint: string | null;
    ip_address: string | null;
    user_agent: string | null;
    request_id: string | null;
    success: boolean;
    error_message: string | null;
    mac: Buffer | null;
  };
  audit_pending: { position: Generated<number>; audit_id: string };
  audit_seals: {
    sequence: number;
    audit_id: string;
    entry_hash: Buffer;
    previous_seal: Buffer;
    seal: Buffer;
    sealed_at: Date;
  };
  audit_head: {
    only_row: Generated<boolean>;
    sequence: number;
    seal: Buffer;
    unsigned_until: number;
    retention_days: number;
    mac: Buffer | null;
  };
  audit_switch: { only_row: Generated<boolean>; opened_by: Buffer };
  audit_refusals: {
    window_start: Date;
    kind: string;
    subject: string;
    first_entry: string | null;
    entries: number;
    times: number;
  };
  audit_anchors: {
    sequence: number;
    seal: Buffer;
    removed: number;
    before: Date;
    made_at: Date;
    key_id: string;
    signature: string;
  };
  audit_settings: { only_row: Generated<boolean>; retention_days: number };
  audit_days: { day: Date; event_type: string; user_email: string; entries: number; failed: number };
};
