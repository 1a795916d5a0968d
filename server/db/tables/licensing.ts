import type { Generated, GeneratedAlways } from 'kysely';
import type { activationStatuses, activationTypes } from '../../../contract/activations.ts';
import type { CustomerStatus } from '../../../contract/customers.ts';
import type { LicenseType } from '../../../contract/licenses.ts';
import type { Figure } from '../../../contract/today-needs.ts';
import type { ValidationCode } from '../../../contract/validation.ts';

/** Customers, licenses, seats and validations. */
export type LicensingTables = {
  customers: {
    customer_id: string;
    name: string;
    contact_name: string | null;
    email: string | null;
    phone: string | null;
    country: string;
    type: Generated<string>;
    status: Generated<CustomerStatus>;
    inherit_licenses: Generated<boolean>;
    deleted_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  customer_tags: { customer_id: string; tag: string };
  modules: { module_id: string; name: string; description: string; category: string | null };
  licenses: {
    license_id: string;
    license_key: string;
    customer_id: string;
    type: LicenseType;
    status: Generated<'active' | 'revoked'>;
    valid_from: Date;
    valid_until: Date;
    max_activations: number;
    current_activations: Generated<number>;
    module_ids: string[];
    self_release_day: Generated<Date | null>;
    self_releases: Generated<number>;
    created_at: Date;
    updated_at: Date;
    customer_sort: GeneratedAlways<string>;
    search_text: GeneratedAlways<string>;
  };
  past_license_owners: { license_id: string; customer_id: string; until: Date };
  license_days: { license_id: string; seen_day: Generated<Date> };
  customer_machines: { customer_id: string; machines: number };
  seatless_machines: { machine_hash: Buffer };
  activations: {
    activation_id: string;
    license_id: string;
    machine_id: string;
    status: (typeof activationStatuses)[number];
    activation_type: (typeof activationTypes)[number];
    hostname: string | null;
    platform: string | null;
    architecture: string | null;
    os_version: string | null;
    app_version: string | null;
    last_checked_at: Date | null;
    counted_day: Generated<Date | null>;
    offline_until: Generated<Date | null>;
    answered_at: Generated<Date | null>;
    created_at: Date;
    updated_at: Date; // of its status, so a seat is held since then
  };
  machine_credentials: {
    activation_id: string;
    public_key: Buffer;
    token_id: string;
    secret_hash: Buffer;
    enrolled_at: Date;
    sequence: number | null;
    moved_back_at: Date | null;
    facts: string | null;
    previous_facts: string | null;
    facts_changed_at: Date | null;
    seen_at: Date | null;
    cloned_at: Date | null;
    own_hash: Generated<Buffer | null>;
  };
  used_nonces: {
    license_id: string;
    public_key: Buffer;
    nonce_hash: Buffer;
  };
  license_files: {
    file_id: string;
    activation_id: string;
    public_key: Buffer;
    issued_at: Date;
    ends_at: Date;
    returned_at: Generated<Date | null>;
    binds_key: Generated<boolean>;
  };
  validations: {
    validation_id: Generated<number>;
    occurred_at: Date;
    code: string;
    duration_us: number;
    license_id: string | null;
    customer_id: string | null;
    machine_id: string | null;
    api_key_id: string | null;
    app_version: string | null;
  };
  refusals: {
    license_id: string;
    machine_id: string;
    code: ValidationCode;
    since: Date;
    refused_at: Date;
    hostname: string | null;
    platform: string | null;
    architecture: string | null;
    app_version: string | null;
  };
  validation_days: { day: Date; code: ValidationCode; validations: number; duration_us: number };
  license_refusals: { license_id: string; code: ValidationCode; last_at: Date };
  day_figures: { at: Date; figure: Figure; count: number };
  active_days: { day: Date; machines: number; licenses: number; customers: number };
  counted_today: { day: Date; kind: 'machine' | 'license' | 'customer'; id: string };
};
