import { S3Client } from '@aws-sdk/client-s3';
import type { StorageConfig } from '../config.ts';
import { answerWithinMs, within } from './patience.ts';

const nothing = () => undefined;
const silent = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * A client for the bucket's server. Keys come from the usual AWS variables, files or roles. A command ends within
 * `answerWithinMs`, repeats and the body of the answer included, unless it brings a signal of its own.
 */
export function connect({ endpoint, region }: Extract<StorageConfig, { kind: 's3' }>): S3Client {
  // It would warn on standard error about Node 20, which is supported here.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    // Checksums in trailers are not understood by every server; what counts is checked by SHA-512 in the end.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would write to the console, past our log.
    logger: silent,
    // It would wait six seconds for a hung server's leave to send a part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: 5000,
      httpAgent: { maxSockets: 200 },
      httpsAgent: { maxSockets: 200 },
    },
  });
  const send = client.send.bind(client) as (command: unknown, options: object) => Promise<unknown>;
  const limited = (command: unknown, options: { abortSignal?: AbortSignal } = {}) =>
    options.abortSignal
      ? send(command, options)
      : within(answerWithinMs, (abortSignal) => send(command, { ...options, abortSignal }));
  client.send = limited as S3Client['send'];
  return client;
}
