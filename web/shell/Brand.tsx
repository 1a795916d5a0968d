/** Name and mark of the product: a card on a lanyard, with four seats of which three are taken. As in `favicon.svg`. */
export function Brand({ size = 20 }: { size?: number }) {
  return (
    <span
      style={{
        display: 'inline-flex',
        alignItems: 'center',
        gap: size * 0.45,
        fontWeight: 600,
        fontSize: size * 0.75,
      }}
    >
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="var(--mantine-color-anchor)"
        strokeWidth="1.75"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
      >
        <path d="M6.5 1.75 12 6.5l5.5-4.75M12 6.5v3" />
        <rect x="5" y="9.5" width="14" height="12.5" rx="2.5" />
        <g fill="var(--mantine-color-anchor)" stroke="none">
          <rect x="8" y="12.25" width="3.25" height="3" rx="0.8" />
          <rect x="12.75" y="12.25" width="3.25" height="3" rx="0.8" />
          <rect x="8" y="16.5" width="3.25" height="3" rx="0.8" />
          <rect x="12.75" y="16.5" width="3.25" height="3" rx="0.8" opacity="0.3" />
        </g>
      </svg>
      Lanyard
    </span>
  );
}
