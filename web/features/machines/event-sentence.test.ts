import { expect, test } from 'vitest';
import type { UpdateEventType } from '../../../contract/machines.ts';
import { eventSentence } from './event-sentence.ts';

const told = { fromVersion: '1.0.0', toVersion: '1.1.0', errorMessage: 'Disk full', errorCode: 'ENOSPC' };
const nothing = { fromVersion: null, toVersion: null, errorMessage: null, errorCode: null };

test.each<[UpdateEventType, string, string]>([
  ['check', 'Checked for updates (current: 1.0.0)', 'Checked for updates (current: Unknown)'],
  ['download_start', 'Started downloading 1.1.0', 'Started downloading Unknown'],
  ['download_complete', 'Completed download of 1.1.0', 'Completed download of Unknown'],
  ['download_error', 'Download failed: Disk full', 'Download failed: Unknown error'],
  ['install_start', 'Started installing 1.1.0', 'Started installing Unknown'],
  ['install_complete', 'Successfully installed 1.1.0', 'Successfully installed Unknown'],
  ['install_error', 'Installation failed: Disk full', 'Installation failed: Unknown error'],
  ['rollback', 'Rolled back from 1.0.0 to 1.1.0', 'Rolled back from Unknown to Unknown'],
])('%s', (eventType, full, bare) => {
  expect(eventSentence({ eventType, ...told }).join('')).toBe(full);
  expect(eventSentence({ eventType, ...nothing }).join('')).toBe(bare);
});

test('without a message the code says what failed', () => {
  const coded = { ...nothing, errorCode: 'ECONNRESET' };
  expect(eventSentence({ eventType: 'download_error', ...coded }).join('')).toBe(
    'Download failed: ECONNRESET',
  );
  expect(eventSentence({ eventType: 'install_error', ...coded, errorMessage: '' }).join('')).toBe(
    'Installation failed: ECONNRESET',
  );
});
