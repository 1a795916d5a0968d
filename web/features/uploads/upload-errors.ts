import { isFinalStatus } from '../../../contract/uploads.ts';
import { ApiError } from '../../api-error.ts';

/**
 * A failure of the network, of a proxy, or of a temporarily unavailable server, or of a storage that has lost the chunks:
 * as opposed to a rejection, the upload continues from its state on the server. What is too large for a proxy stays so.
 */
export const canContinue = (error: unknown): boolean =>
  isLost(error) ||
  (error instanceof ApiError &&
    ([408, 429, 502, 503, 504].includes(error.status) || (!isOfService(error) && error.status !== 413)));

/** As opposed to the page of a proxy, and to no answer. */
const isOfService = ({ code }: ApiError): boolean => code !== undefined;

export const isLost = (error: unknown): boolean => error instanceof ApiError && error.code === 'CHUNKS_LOST';

/** A rejection that a retry with the same file would get again. */
export const isRefusal = (error: unknown): boolean => isFinal(error) && error.status < 500;

/** A rejection by the service, not by a proxy before it, does not change with a retry. */
export const isFinal = (error: unknown): error is ApiError =>
  error instanceof ApiError && isOfService(error) && isFinalStatus(error.status);
