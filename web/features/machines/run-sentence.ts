import type { TimelineRun } from '../../../contract/machine-standing.ts';
import { eventSentence, type SentenceParts } from './event-sentence.ts';
import { refusalReasons } from '../../refusal-reasons.ts';
import { countText } from '../../ui/numbers.ts';

/** `412 valid validations`, `Refused 3 times: seats full`, `Checked for updates (current: 4.2.0), 12 times`. */
export function runSentence(run: TimelineRun): SentenceParts {
  const { kind, code, count } = run;
  const times = countText(count);
  if (kind !== 'validation') {
    const [before, version = '', after = ''] = eventSentence({
      ...run,
      eventType: kind,
      errorMessage: run.error,
      errorCode: null,
    });
    return [before, version, count === 1 ? after : `${after}, ${times} times`];
  }
  if (code === 'VALID') return [count === 1 ? 'Validated' : `${times} valid validations`];
  const reason = refusalReasons[code ?? 'NOT_FOUND'];
  return [count === 1 ? `Refused: ${reason}` : `Refused ${times} times: ${reason}`];
}
