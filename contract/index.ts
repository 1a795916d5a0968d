import { activations } from './activations.ts';
import { apiKeys } from './api-keys.ts';
import { customers } from './customers.ts';
import { licenses } from './licenses.ts';
import { modules } from './modules.ts';
import { session } from './session.ts';
import { validation } from './validation.ts';

/** Every call of the service, by feature. */
export const contract = { session, customers, licenses, modules, activations, validation, apiKeys };
