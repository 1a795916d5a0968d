import { useRef, useState } from 'react';

export type LastFile = ReturnType<typeof useLastFile>;

/**
 * For files that a user chooses, which are read before they become the value of a field. Where one is chosen after the
 * other, the last one counts, whichever is read first. `isReading`: the form must not be sent yet, as it would be sent
 * with the file before. `stop`: the user entered something else meanwhile.
 */
export function useLastFile() {
  const last = useRef<Promise<unknown>>(null);
  const [isReading, setReading] = useState(false);
  const stop = () => {
    last.current = null;
    setReading(false);
  };
  return {
    isReading,
    stop,
    read<Content>(
      content: Promise<Content>,
      take: (content: Content) => void,
      refuse: (error: unknown) => void,
    ): void {
      last.current = content;
      setReading(true);
      const ifLast =
        <Read>(then: (read: Read) => void) =>
        (read: Read) => {
          if (last.current !== content) return;
          stop();
          then(read);
        };
      void content.then(ifLast(take), ifLast(refuse));
    },
  };
}
