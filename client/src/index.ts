export { createClient, type Client } from './create-client.ts';
export type {
  CheckResult,
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
