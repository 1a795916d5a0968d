/** Name and mark of the product: a badge on a lanyard, with the seat bar. As in `favicon.svg`, and the same in both schemes. */
export function Brand({ size = 20 }: { size?: number }) {
  return (
    <span
      style={{
        display: 'inline-flex',
        alignItems: 'center',
        gap: size * 0.45,
        fontWeight: 600,
        fontSize: `${(size * 0.75) / 16}rem`,
      }}
    >
      <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden>
        <rect width="24" height="24" rx="6" fill="#3d59b2" />
        <path d="M6 0h3l3 4 3-4h3l-6 8Z" fill="#b9c5e9" />
        <rect x="6.25" y="8" width="11.5" height="13" rx="1.75" fill="#fff" />
        <rect x="10.25" y="9.6" width="3.5" height="1.4" rx="0.7" fill="#3d59b2" />
        <rect x="8.5" y="15.5" width="7" height="3" rx="0.75" fill="#b9c5e9" />
        <path d="M9.25 15.5H13v3H9.25a.75.75 0 0 1-.75-.75v-1.5a.75.75 0 0 1 .75-.75Z" fill="#3d59b2" />
      </svg>
      <span data-word>Lanyard</span>
    </span>
  );
}
