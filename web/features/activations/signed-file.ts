import { mostSignedText } from '../../../contract/offline.ts';
import { bytesText } from '../../ui/bytes.ts';
import { readQr } from '../../ui/read-qr.ts';

/**
 * The text in a file that a machine made: the file itself, or a photo of its QR code. Throws an error whose message says
 * what is wrong with the file.
 */
export async function textOfFile(file: File): Promise<string> {
  if (file.type.startsWith('image/')) return textOfPhoto(file);
  if (file.size > mostSignedText)
    throw new Error(`${file.name} is not a file of the program: it is too large (${bytesText(file.size)}).`);
  const text = (await file.text()).trim();
  if (text === '') throw new Error(`${file.name} is empty.`);
  return text;
}

async function textOfPhoto(file: File): Promise<string> {
  const photo = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is not an image that the browser can show.`);
  });
  const text = await readQr(photo).finally(() => photo.close());
  if (!text)
    throw new Error(`There is no readable QR code in ${file.name}. Take the photo closer and sharper.`);
  return text;
}
