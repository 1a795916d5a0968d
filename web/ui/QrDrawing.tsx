import { encodeQR } from 'qr';

/** The quiet zone around the code that readers require, in modules. */
const border = 4;

/** A text as a QR code, dark on white in both themes: many readers support nothing else. */
export default function QrDrawing(props: { text: string; label: string; size: number }) {
  const rows = encodeQR(props.text, 'raw', { ecc: 'medium', border });
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      role="img"
      aria-label={props.label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      style={{ width: '100%', maxWidth: props.size, borderRadius: 6 }}
    >
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
