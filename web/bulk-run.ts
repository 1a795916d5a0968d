import { ApiError, isUnanswered, mayBeDone, messageOf } from './api-error.ts';
import { retryPause } from './api.ts';
import { shouldRetry } from './query-client.ts';
import { topForm } from './ui/open-forms.ts';

/** `done`: what was answered. */
export type BulkResult<T, Answer = unknown> = { done: Answer[]; failed: { item: T; error: unknown }[] };

const atOnce = 4;

/**
 * Calls `change` for every item, a few in parallel, in the name of the `form` that is open by now, or of none: that has the
 * keys of the requests. A failure does not stop the others.
 */
export async function runBulk<T, Answer>(
  items: readonly T[],
  change: (item: T, form: object) => Promise<Answer>,
  form: object = topForm() ?? {},
): Promise<BulkResult<T, Answer>> {
  const result: BulkResult<T, Answer> = { done: [], failed: [] };
  const waiting = [...items];
  let isAway = false;
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const sent = item;
      try {
        result.done.push(
          await untilAnswered(
            () => change(sent, form),
            () => !isAway,
          ),
        );
      } catch (error) {
        // the others are not waited for as long
        isAway ||= mayBeDone(error);
        result.failed.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
}

/**
 * The answer to a change, which is sent again while none comes, at most four times. `attempt` sends it in the name of one
 * form, whichever is open by then: so it has the same `Idempotency-Key` each time, and is done once.
 */
export async function untilAnswered<Answer>(
  attempt: () => Promise<Answer>,
  goesOn: () => boolean,
  failures = 0,
): Promise<Answer> {
  try {
    return await attempt();
  } catch (error) {
    if (!goesOn() || !mayBeDone(error) || !shouldRetry(failures, error)) throw error;
    await retryPause(failures);
    return untilAnswered(attempt, goesOn, failures + 1).catch((later: unknown) => {
      throw isRefusedBeforeKey(later) ? error : later;
    });
  }
}

/** Why an item failed. It is not sent again, so its key does not help. */
export const itemProblem = (error: unknown): string =>
  isUnanswered(error) ? 'No response: the change may or may not have been applied.' : messageOf(error);

/** A repeated request was refused before its key was looked at: nothing is known of the first one. */
export const isRefusedBeforeKey = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403, 429].includes(error.status);
