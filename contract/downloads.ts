import { z } from 'zod';
import { credentialQuery, id } from './common.ts';
import { apiKeyOrStaffWith, route } from './route.ts';

export const downloads = {
  file: route('GET', '/api/v1/updates/files/{releaseId}/{version}/{fileName}', {
    summary: 'The file of a release, or its block map with .blockmap appended; single and multiple ranges',
    access: apiKeyOrStaffWith('updates', 'releases', 'read'),
    params: z.object({
      releaseId: id,
      version: z.string().max(100),
      fileName: z.string().max(300),
    }),
    // updaters copy the query of the feed's URL to this URL
    query: z.object({
      ...credentialQuery,
      machineId: z
        .string()
        .optional()
        .meta({ description: 'Or the header X-Machine-Id; records a download of this machine' }),
      // Squirrel.Windows retries a failed request in lower case
      machineid: z.string().optional(),
    }),
    // 206: with several ranges multipart/byteranges; 302: the file of another server
    raw: {
      200: 'application/octet-stream',
      206: 'application/octet-stream',
      302: null,
      304: null,
      412: null,
      416: null,
    },
    apiKeyInQuery: true,
  }),
};
