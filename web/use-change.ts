import {
  useMutation,
  type MutationFunction,
  type UseMutationOptions,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { getSession } from './session-store.ts';

type Options<Data, Variables> = UseMutationOptions<Data, Error, Variables> & {
  mutationFn: MutationFunction<Data, Variables>;
};

/**
 * The library's `useMutation` for every form and button. A mutation in progress is not started a second time, such as
 * by a double click: a ref knows that immediately, while `isPending` waits for the next render.
 */
export function useChange<Data, Variables = void>(
  options: Options<Data, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const inProgress = useRef(new Set<string>());
  const { mutationFn } = options;
  const change = useMutation<Data, Error, Variables>({
    ...options,
    mutationFn: (...given) => untilLeft(mutationFn(...given)),
    onSettled: (...settled) => {
      inProgress.current.delete(nameOf(settled[2]));
      return options.onSettled?.(...settled);
    },
  });
  const { mutate } = change;
  const begin = useCallback(
    (...call: Parameters<typeof mutate>) => {
      const name = nameOf(call[0]);
      if (inProgress.current.has(name)) return;
      inProgress.current.add(name);
      mutate(...call);
    },
    [mutate],
  );
  return { ...change, mutate: begin };
}

/**
 * An answer that comes once its user has left is for nobody: the next one would read what they did not do, undo it, or be
 * asked about it.
 */
async function untilLeft<Data>(answer: Promise<Data>): Promise<Data> {
  const by = userNow();
  const hasLeft = () => by !== undefined && by !== userNow();
  try {
    return await answer;
  } finally {
    if (hasLeft()) await new Promise(() => undefined);
  }
}

const userNow = () => getSession()?.user.userId;

const nameOf = (variables: unknown): string => JSON.stringify(variables) ?? '';
