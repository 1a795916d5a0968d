import { useEffect, useState, type ReactNode } from 'react';
import { copyToClipboard } from './copy-to-clipboard.ts';
import { IconCheck, IconCopy } from './icons.tsx';
import { toast } from './toast.tsx';

/** How long 'Copied!' stays, in milliseconds (spec part 2, section 9). */
const copiedFor = 2000;

type Copying = { copied: boolean; copy: () => void; icon: ReactNode };

/** Renders `children` as the button that copies `value`, and announces success or failure. */
export function CopyButton(props: { value: string; children: (copying: Copying) => ReactNode }) {
  const { value, children } = props;
  // A counter, so that another copy restarts the timer.
  const [copies, setCopies] = useState(0);
  const copied = copies > 0;
  /** Before it can be pressed: a list has a button in each row, and screen readers would meet as many empty messages. */
  const [reached, setReached] = useState(false);
  useEffect(() => {
    if (copies === 0) return;
    const timer = setTimeout(() => setCopies(0), copiedFor);
    return () => clearTimeout(timer);
  }, [copies]);
  const copy = async () => {
    if (await copyToClipboard(value)) setCopies((before) => before + 1);
    else
      void toast({
        message: 'Select the text and copy it by hand: the browser refuses.',
        subject: { name: 'Clipboard' },
        tone: 'red',
      });
  };
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <span style={{ display: 'contents' }} onFocus={() => setReached(true)}>
      {children({ copied, copy: () => void copy(), icon: <Icon /> })}
      {(reached || copied) && (
        <span role="status" className="visually-hidden">
          {copied && 'Copied!'}
        </span>
      )}
    </span>
  );
}
