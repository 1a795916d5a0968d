import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';

/**
 * The library's `useMutation` for every form and button. A mutation in progress is not started a second time, such as
 * by a double click: a ref knows that immediately, while `isPending` waits for the next render.
 */
export function useChange<Data, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const inProgress = useRef(new Set<string>());
  const change = useMutation({
    ...options,
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

/** For a change whose answer is shown in its own dialog: whether that was left before the answer came. */
export function useIsLeft(): () => boolean {
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  return () => isLeft.current;
}

const nameOf = (variables: unknown): string => JSON.stringify(variables) ?? '';
