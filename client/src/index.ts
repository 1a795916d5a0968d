export { createClient } from './create-client.ts';
export type {
  CheckResult,
  Client,
  ClientOptions,
  Code,
  Facts,
  Fetch,
  GiveBackResult,
  ImportResult,
  LocalCode,
  OfflineRequest,
  Protect,
  Refused,
} from './types.ts';
