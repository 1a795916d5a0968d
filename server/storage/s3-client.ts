import { S3Client } from '@aws-sdk/client-s3';
import type { StorageConfig } from '../config.ts';

/** A client for the bucket's server. Keys come from the usual AWS variables, files or roles. */
export function connect({ endpoint, region }: Extract<StorageConfig, { kind: 's3' }>): S3Client {
  // It would warn on standard error about Node 20, which is supported here.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  return new S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    // Checksums in trailers are not understood by every server; what counts is checked by SHA-512 in the end.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 5000,
      httpAgent: { maxSockets: 200 },
      httpsAgent: { maxSockets: 200 },
    },
  });
}
