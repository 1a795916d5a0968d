/** Name and mark of the product: a card on a lanyard. */
export function Brand() {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 9, fontWeight: 600, fontSize: 15 }}>
      <svg
        width="20"
        height="20"
        viewBox="0 0 24 24"
        fill="none"
        stroke="var(--mantine-color-anchor)"
        strokeWidth="1.75"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
      >
        <path d="M4.5 2.5 12 10l7.5-7.5" />
        <path d="M12 10v2" />
        <rect x="4.5" y="12" width="15" height="9.5" rx="2" />
        <path d="M8.5 16.75h7" />
      </svg>
      Lanyard
    </span>
  );
}
