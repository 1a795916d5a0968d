import type { ReactNode } from 'react';

// Seats, as the badges of the mark, and the buckets of a rollout. Not the audit chain: torn beside a list that could not be
// loaded, it would say that the log was altered.

/** Decorative: the text below says what the picture shows. */
const picture = (lines: ReactNode) => (
  <svg
    viewBox="0 0 112 48"
    width={112}
    height={48}
    fill="none"
    stroke="var(--mantine-color-dimmed)"
    strokeWidth={1.5}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden
  >
    {lines}
  </svg>
);

/** Seats that nobody has taken. */
export const nothingYet = picture(
  <>
    <path d="M8 5.5h96M26 6v8M56 6v8M86 6v8M23 19.5h6M53 19.5h6M83 19.5h6" />
    {[15, 45, 75].map((x) => (
      <rect key={x} x={x} y="14" width="22" height="27" rx="4" strokeDasharray="3" />
    ))}
  </>,
);

/** A mark over a bucket that is not among the filled ones. */
export const noMatch = picture(
  <>
    <path d="M8 27h32v14H8z" fill="var(--ui-accent-soft)" stroke="none" />
    <path d="M8 25v16h96V25M24 25v16M40 25v16M56 25v16M72 25v16M88 25v16" />
    <path d="M80 16v20M85 11a5 5 0 1 0-10 0a5 5 0 0 0 10 0" stroke="var(--ui-accent-text)" />
  </>,
);

/** A badge that has come off. */
export const cameOff = picture(
  <>
    <path d="M8 5.5h96M56 6v5M52 15l4-4 4 4" />
    <g stroke="var(--mantine-color-error)" transform="rotate(13 56 32)">
      <rect x="45" y="19" width="22" height="27" rx="4" />
      <path d="M56 28v7M56 39.5v.01" />
    </g>
  </>,
);
