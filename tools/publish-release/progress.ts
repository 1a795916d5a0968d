const windowMs = 5000;
/** Percent between two lines in a log, which cannot be overwritten like a terminal. */
const logStepPercent = 10;
const redrawMs = 200;

type Terminal = { write: (text: string) => unknown; isTTY?: boolean };

/** Shows bytes, percent and speed: one line that is updated on a terminal, one line per step in a log. */
export function createProgress(out: Terminal, now: () => number = () => performance.now()) {
  const samples: { at: number; sent: number }[] = [];
  let [drawnAt, nextStep, isOpen] = [-Infinity, 0, false];

  function speed(at: number, sent: number): number {
    const newest = { at, sent };
    samples.push(newest);
    // keep one sample that is at least a window old, as the start of the measurement
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= windowMs) samples.shift();
    const [first = newest] = samples;
    return at > first.at ? Math.max(0, ((sent - first.sent) / (at - first.at)) * 1000) : 0;
  }

  /** Ends the line, so that later output starts on a new one. */
  function end(): void {
    if (isOpen) out.write('\n');
    isOpen = false;
  }

  return {
    show(sent: number, total: number): void {
      const at = now();
      const percent = Math.floor((sent / total) * 100);
      const isDone = sent >= total;
      if (out.isTTY ? at - drawnAt < redrawMs && !isDone : percent < nextStep) return;
      drawnAt = at;
      nextStep = Math.floor(percent / logStepPercent) * logStepPercent + logStepPercent;
      const line = `${megabytes(sent)} of ${megabytes(total)}, ${percent} %, ${megabytes(speed(at, sent))}/s`;
      out.write(out.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
      isOpen = out.isTTY === true;
    },
    say(line: string): void {
      end();
      out.write(`${line}\n`);
    },
    end,
  };
}

const megabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MB`;
