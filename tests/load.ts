import { setTimeout as sleep } from 'node:timers/promises';

/** What a call answered, as far as a load looks at it. */
export type Answered = { status: number; headers: Headers; text?: string | (() => Promise<string>) };

/** The result of a call; the status is 0 where there was no response. */
export type Seen = {
  call: string;
  status: number;
  /** Set for every unsuccessful status: the message, and the phase of the test. */
  trouble?: string;
  retryAfter: string | null;
  from: number;
  to: number;
};

export type Load = {
  seen: Seen[];
  /** Names the current phase of the test, for failed calls. */
  phase(name: string): void;
  /** Waits for the calls in progress and makes no more. */
  stop(): Promise<void>;
};

/**
 * Makes the calls in turn, in several parallel loops, until it is stopped. After a refusal a loop waits, as a real
 * client would: thousands of refusals a second would only starve a machine on which everything runs.
 */
export function startLoad(
  calls: Record<string, () => Promise<Answered>>,
  { lanes = 12, pauseMs = 10, refusedMs = 200 } = {},
): Load {
  const kinds = Object.entries(calls);
  const seen: Seen[] = [];
  let going = true;
  let phase = 'before all';
  let since = performance.now();

  async function one([call, make]: (typeof kinds)[number]): Promise<Seen> {
    const from = performance.now();
    const when = `sent ${Math.round(from - since)} ms after ${phase}`;
    try {
      const answer = await make();
      const said = typeof answer.text === 'function' ? await answer.text() : answer.text;
      const { status } = answer;
      const to = performance.now();
      const retryAfter = answer.headers.get('retry-after');
      if (status < 300) return { call, status, retryAfter, from, to };
      const trouble = `${call}: ${status} ${said?.slice(0, 160)}, ${when}, took ${Math.round(to - from)} ms`;
      return { call, status, retryAfter, from, to, trouble };
    } catch (error) {
      const { message, cause } = error as Error;
      const to = performance.now();
      const trouble = `${call}: ${message} ${String(cause)}, ${when}, took ${Math.round(to - from)} ms`;
      return { call, status: 0, retryAfter: null, from, to, trouble };
    }
  }

  const running = Array.from({ length: lanes }, async (_, first) => {
    for (let i = first; going; i++) {
      const outcome = await one(kinds[i % kinds.length]!);
      seen.push(outcome);
      await sleep(outcome.trouble === undefined ? pauseMs : refusedMs);
    }
  });
  return {
    seen,
    phase(name) {
      phase = name;
      since = performance.now();
    },
    async stop() {
      going = false;
      await Promise.all(running);
    },
  };
}

const isSuccess = ({ trouble }: Seen) => trouble === undefined;
const isRefusal = ({ status, retryAfter }: Seen) => status === 503 && Number(retryAfter) >= 1;

/** The number of successful calls, of 503 with `Retry-After`, and the results of the others. */
export function counted(seen: Seen[]): { answered: number; refused: number; failed: string[] } {
  return {
    answered: seen.filter(isSuccess).length,
    refused: seen.filter(isRefusal).length,
    failed: seen.filter((one) => !isSuccess(one) && !isRefusal(one)).map(({ trouble }) => trouble!),
  };
}

/** The longest time in which no call of some kind succeeded, in milliseconds. */
export function longestGap(seen: Seen[]): number {
  const last = new Map<string, number>();
  let longest = 0;
  for (const { call, to } of seen.filter(isSuccess)) {
    longest = Math.max(longest, to - (last.get(call) ?? to));
    last.set(call, to);
  }
  return longest;
}

/** Milliseconds until every kind has had a successful call that was sent after `from`. */
export function recovery(seen: Seen[], from: number): number {
  const kinds = new Set(seen.map(({ call }) => call));
  const first = [...kinds].map((kind) =>
    Math.min(
      ...seen.filter((one) => one.call === kind && isSuccess(one) && one.from > from).map(({ to }) => to),
    ),
  );
  return Math.max(...first) - from;
}
