import type { AuditTables } from './tables/audit.ts';
import type { InstallationTables } from './tables/installation.ts';
import type { LicensingTables } from './tables/licensing.ts';
import type { ReleasesTables } from './tables/releases.ts';
import type { StaffTables } from './tables/staff.ts';
import type { UpdatesTables } from './tables/updates.ts';

/** All tables, as queries see them. */
export type Tables = InstallationTables &
  StaffTables &
  LicensingTables &
  ReleasesTables &
  UpdatesTables &
  AuditTables;
