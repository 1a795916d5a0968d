import type { Tone } from '../../ui/StatusBadge.tsx';

/** Status of a download: an error code decides, then whether it was completed (spec part 2, section 2.6). */
export function downloadStatus(download: { errorCode: string | null; completedAt: string | null }): {
  word: string;
  tone: Tone;
} {
  if (download.errorCode) return { word: `Failed: ${download.errorCode}`, tone: 'red' };
  return download.completedAt ? { word: 'Success', tone: 'teal' } : { word: 'In Progress', tone: 'amber' };
}
