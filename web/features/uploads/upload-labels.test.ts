import { expect, test } from 'vitest';
import type { Upload } from './upload-list.ts';
import { durationText, percentOf, progressText, stateText } from './upload-labels.ts';

const megabyte = 1_048_576;
const upload = {
  status: 'running',
  phase: 'uploading',
  done: 12 * megabyte,
  fileSize: 60 * megabyte,
  pace: { bytesPerSecond: 2 * megabyte, secondsLeft: 24 },
} as Upload;

test('says bytes, speed and time left', () => {
  expect(progressText(upload)).toBe('12.00 MB of 60.00 MB · 2.00 MB/s · 24 s left');
  expect(progressText({ ...upload, status: 'paused' })).toBe('12.00 MB of 60.00 MB');
  expect(progressText({ ...upload, phase: 'finishing' })).toBe('The server checks the file');
  expect(percentOf(upload)).toBe(20);
  expect(stateText({ status: 'pausing', phase: 'uploading' })).toBe('Pausing...');
  expect(stateText({ status: 'running', phase: 'hashing' })).toBe('Hashing');
});

test.each([
  [0.2, '1 s'],
  [45, '45 s'],
  [60, '1 min'],
  [200, '3 min 20 s'],
  [7500, '2 h 5 min'],
])('%d seconds are %s', (seconds, text) => expect(durationText(seconds)).toBe(text));
