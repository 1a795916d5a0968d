export { createClient } from './create-client.ts';
export type {
  CheckResult,
  Client,
  ClientOptions,
  Code,
  ConnectedUpdater,
  Facts,
  Fetch,
  GiveBackResult,
  ImportResult,
  LocalCode,
  OfflineRequest,
  Protect,
  Refused,
  Updater,
  UpdaterOptions,
} from './types.ts';
