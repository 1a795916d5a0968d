import { startTransition, useEffect, useState, type ReactNode } from 'react';

let turn = Promise.resolve();
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/**
 * Draws each chart of a screen in a task of its own, since one takes tens of milliseconds: the page responds in between.
 *
 * @param props.height Reserved until then, in pixels.
 */
export function InTurn({ height, children }: { height: number; children: ReactNode }) {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    let isGone = false;
    const wait = async () => {
      await (turn = turn.then(nextTask));
      if (!isGone) startTransition(() => setDue(true));
    };
    void wait();
    return () => {
      isGone = true;
    };
  }, []);
  return isDue ? children : <div style={{ height }} />;
}
