import { useQuery } from '@tanstack/react-query';
import { unfedReasonOf } from '../../../contract/fed-kinds.ts';
import type { Release } from '../../../contract/releases.ts';
import { nextStep } from '../../../contract/next-step.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { besideSentences, policySentence, reachQuery, widenSentences } from '../../ReachConfirm.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { widenRollout } from './queries.ts';
import { buildText } from './release-labels.ts';
import { aboutRelease } from '../../toast-subjects.ts';

/** Takes the next step of a plan at once, and says how many more machines that is. */
export default function WidenRollout({ release, onClose }: { release: Release; onClose: () => void }) {
  const { rolloutPercentage: from, version } = release;
  const to = nextStep(release)?.percentage ?? from;
  const unfed = unfedReasonOf(release);
  const consequences = useQuery({
    ...reachQuery(release),
    select: (reach) =>
      unfed
        ? [unfed]
        : [
            ...widenSentences(reach, from, to),
            // another step than the first hides no more than the one before
            ...besideSentences(from === 0 ? reach : { ...reach, hides: [] }, to),
            ...policySentence(release.channel),
          ],
  });
  const confirmed = useConfirmedChange({
    change: () => widenRollout(release, to),
    done: () => ({
      message: `Rollout of ${version} widened to ${to} %`,
      subject: aboutRelease(release),
    }),
    onClose,
  });
  return (
    <ConfirmDialog
      {...confirmed}
      title="Widen Rollout"
      message={`Offer ${buildText(release)} to ${to} % of users now, without waiting for the time of the step?`}
      confirmLabel={`Widen to ${to} %`}
      consequences={consequences}
      onConfirm={() => confirmed.onConfirm()}
    />
  );
}
