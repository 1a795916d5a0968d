import { expect, test } from 'vitest';
import { downloadStatus } from './download-status.ts';

const at = '2026-11-20T09:00:00.000Z';

test.each([
  [{ errorCode: 'ENOSPC', completedAt: null }, 'Failed: ENOSPC'],
  [{ errorCode: 'EHASH', completedAt: at }, 'Failed: EHASH'],
  [{ errorCode: null, completedAt: at }, 'Success'],
  [{ errorCode: null, completedAt: null }, 'In Progress'],
])('%j is %s', (download, word) => expect(downloadStatus(download).word).toBe(word));
