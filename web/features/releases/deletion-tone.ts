import type { Tone } from '../../ui/StatusBadge.tsx';

/** Red at 7 days or fewer, yellow at 14 or fewer, else gray (spec part 2, section 2.5). */
export const deletionTone = (days: number): Tone => (days <= 7 ? 'red' : days <= 14 ? 'amber' : 'neutral');
