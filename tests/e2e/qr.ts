import type { Locator } from '@playwright/test';
import { decodeQR } from 'qr/decode.js';

/** Pixels per module: a decoder finds nothing in smaller codes. */
const scale = 4;

/** The text of a QR code that the console draws, read from its modules. */
export async function qrTextOf(drawing: Locator): Promise<string> {
  const side = Number((await drawing.getAttribute('viewBox'))!.split(' ')[2]) * scale;
  const data = new Uint8Array(side * side * 4).fill(255);
  for (const [, x, y] of (await drawing.locator('path').getAttribute('d'))!.matchAll(/M(\d+) (\d+)/g)) {
    for (let row = 0; row < scale; row++) {
      const start = ((Number(y) * scale + row) * side + Number(x) * scale) * 4;
      for (let pixel = start; pixel < start + scale * 4; pixel += 4) data.fill(0, pixel, pixel + 3);
    }
  }
  return decodeQR({ width: side, height: side, data });
}
