import { longestCsv } from '../../../contract/imports.ts';

/** The text of a CSV file. Throws an error whose message says why it is not one. */
export async function textOfCsvFile(file: File): Promise<string> {
  // UTF-16 takes two bytes for each character
  if (file.size > 2 * longestCsv) throw new Error(`${file.name} is too large. Split it.`);
  const text = decoded(new Uint8Array(await file.arrayBuffer()));
  if (text.includes('\0')) throw new Error(`${file.name} is not a CSV file. Save the sheet as CSV first.`);
  if (text.trim() === '') throw new Error(`${file.name} is empty.`);
  return text;
}

/** UTF-8 and UTF-16 with a byte order mark, UTF-8 without, else the encoding in which Excel saves on Windows. */
export function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
