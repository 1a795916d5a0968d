import { keys as calls } from '../../../contract/keys.ts';
import type { Db } from '../../db/client.ts';
import { implement } from '../../http/call.ts';
import { publishedKeys } from './published.ts';
import type { InstallationKeys } from './claim.ts';

/** Rotation replaces the signer in `keys`. */
export const keyRoutes = (db: Db, keys: Pick<InstallationKeys, 'signer'>) =>
  implement(calls, { published: () => publishedKeys(db, keys.signer) });
