import { S3Client } from '@aws-sdk/client-s3';
import type { StorageConfig } from '../config.ts';
import { answerWithinMs, within } from './patience.ts';

const nothing = () => undefined;
const silent = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * A client for the server of the bucket. Credentials come from the usual AWS variables, files or roles. A command ends
 * within `answerWithinMs`, including retries and the response body, unless it has a signal of its own.
 */
export function connect({ endpoint, region }: Extract<StorageConfig, { kind: 's3' }>): S3Client {
  // Prevents a warning on stderr about Node 20, which we support.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    // Some servers do not support checksums in trailers; files are verified by SHA-512 at the end.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Prevents output to the console that bypasses our log.
    logger: silent,
    // Avoids a wait of six seconds for `100 Continue` if the server hangs.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: 5000,
      // A client that reads slowly holds a connection for as long: with a limit, a few hundred of them block all else.
      httpAgent: { maxSockets: Infinity },
      httpsAgent: { maxSockets: Infinity },
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
