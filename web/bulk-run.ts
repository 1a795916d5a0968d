import { ApiError, isUnanswered, mayBeDone, messageOf } from './api-error.ts';
import { retryPause, userNow } from './api.ts';
import { shouldRetry } from './query-client.ts';
import { sessionStore } from './session-store.ts';
import { addForm, topForm } from './ui/open-forms.ts';

/** `done`: what was answered. */
export type BulkResult<T, Answer = unknown> = { done: Answer[]; failed: { item: T; error: unknown }[] };

const atOnce = 4;

/** Calls `change` for every item, a few in parallel. A failure does not stop the others. */
export async function runBulk<T, Answer>(
  items: readonly T[],
  change: (item: T) => Promise<Answer>,
): Promise<BulkResult<T, Answer>> {
  const result: BulkResult<T, Answer> = { done: [], failed: [] };
  const waiting = [...items];
  // where no dialog is open, as in an Undo, the run keeps the keys of its requests
  const close = topForm() ? undefined : addFormOfUser();
  // of one form, the same request is done once, however often it is sent: one without an answer is sent again
  const form = topForm();
  let isAway = false;
  const untilAnswered = async (item: T, failures = 0): Promise<Answer> => {
    const isOfRun = topForm() === form;
    try {
      return await change(item);
    } catch (error) {
      if (isAway || !isOfRun || topForm() !== form || !mayBeDone(error)) throw error;
      // the others are not waited for as long
      isAway = !shouldRetry(failures, error);
      if (isAway) throw error;
      await retryPause(failures);
      return untilAnswered(item, failures + 1).catch((later: unknown) => {
        throw isRefusedBeforeKey(later) ? error : later;
      });
    }
  };
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        result.done.push(await untilAnswered(item));
      } catch (error) {
        result.failed.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  close?.();
  return result;
}

/** As `addForm`, but it is removed once its user has left: a run does not end then. */
function addFormOfUser(): () => void {
  const remove = addForm({});
  const by = userNow();
  const unsubscribe = sessionStore.subscribe(() => userNow() !== by && close());
  const close = () => {
    unsubscribe();
    remove();
  };
  return close;
}

/** Why an item failed. It is not sent again, so its key does not help. */
export const itemProblem = (error: unknown): string =>
  isUnanswered(error) ? 'No answer came: it may have been done or not.' : messageOf(error);

/** A repeated request was refused before its key was looked at: nothing is known of the first one. */
export const isRefusedBeforeKey = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403, 429].includes(error.status);
