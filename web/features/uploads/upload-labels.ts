import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { bytesText } from '../../ui/bytes.ts';
import type { Upload } from './upload-list.ts';

/** `2.4.0 · Windows x64 · stable`. */
export const buildText = ({ fields }: Pick<Upload, 'fields'>): string =>
  `${fields.version} · ${platformNames[fields.platform]} ${architectureNames[fields.architecture]} · ${fields.channel}`;

const phases = { hashing: 'Hashing', uploading: 'Uploading', finishing: 'Finishing' } as const;

/** `Uploading`, `Paused`, …: the state of an upload in one or two words. */
export function stateText({ status, phase }: Pick<Upload, 'status' | 'phase'>): string {
  switch (status) {
    case 'running':
      return phases[phase];
    case 'pausing':
      return 'Pausing...';
    case 'paused':
      return 'Paused';
    case 'waiting':
      return 'Waiting for the connection';
    case 'needs-file':
      return 'Interrupted';
    case 'failed':
      return 'Failed';
    case 'cancelled':
      return 'Cancelled';
    case 'done':
      return 'Uploaded';
  }
}

/** `12.0 MB of 61.3 MB · 5.1 MB/s · 10 s left`; empty where there is no progress to show. */
export function progressText({ status, phase, done, fileSize, pace }: Upload): string {
  if (status === 'done' || status === 'cancelled') return bytesText(fileSize);
  if (status === 'running' && phase === 'finishing') return 'The server checks the file';
  const parts = [`${bytesText(done)} of ${bytesText(fileSize)}`];
  if (status === 'running' && pace.bytesPerSecond)
    parts.push(`${bytesText(Math.round(pace.bytesPerSecond))}/s`);
  if (status === 'running' && pace.secondsLeft !== null) parts.push(`${durationText(pace.secondsLeft)} left`);
  return parts.join(' · ');
}

/** `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

export const percentOf = ({
  status,
  done,
  fileSize,
}: Pick<Upload, 'status' | 'done' | 'fileSize'>): number =>
  status === 'done' ? 100 : Math.floor((100 * done) / fileSize);
