import { loadPart } from './lazy-part.ts';

/** The part of the Shape Detection API that is used here. */
type Detector = { detect(image: ImageBitmapSource): Promise<{ rawValue: string }[]> };
type DetectorClass = {
  new (options: { formats: ['qr_code'] }): Detector;
  getSupportedFormats(): Promise<readonly string[]>;
};

let loaded: Promise<Detector> | undefined;

/** The text of the QR code in an image or in the current frame of a video; undefined where none is found. */
export async function readQr(image: ImageBitmapSource): Promise<string | undefined> {
  const detector = await (loaded ??= loadDetector());
  const [found] = await detector.detect(image);
  return found?.rawValue;
}

/** The browser's own detector, or a library in browsers that have none, such as Firefox and Chrome on Windows. */
async function loadDetector(): Promise<Detector> {
  const { BarcodeDetector: native } = globalThis as { BarcodeDetector?: DetectorClass };
  const formats = await native?.getSupportedFormats().catch((): string[] => []);
  if (native && formats?.includes('qr_code')) return new native({ formats: ['qr_code'] });
  const { BarcodeDetector } = await loadPart(() => import('qr/decode.js'));
  return new BarcodeDetector();
}
