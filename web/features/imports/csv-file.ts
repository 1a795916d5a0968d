import { longestCsv } from '../../../contract/imports.ts';
import { readerLocale } from '../../ui/locale.ts';

/** `isGuess`: the file does not say its encoding, so letters may be wrong. */
export type CsvText = { text: string; isGuess: boolean };

/** The text of a CSV file. Throws an error whose message says why it is not one. */
export async function textOfCsvFile(file: File): Promise<CsvText> {
  // UTF-16 takes two bytes for each character
  if (file.size > 2 * longestCsv) throw new Error(`${file.name} is too large. Split it.`);
  const read = decoded(new Uint8Array(await file.arrayBuffer()));
  if (read.text.includes('\0'))
    throw new Error(`${file.name} is not a CSV file. Save the sheet as CSV first.`);
  if (read.text.trim() === '') throw new Error(`${file.name} is empty.`);
  return read;
}

/** UTF-8 and UTF-16 with a byte order mark, UTF-8 without, else as Excel saves on a Windows in the reader's language. */
export function decoded(bytes: Uint8Array, locale = readerLocale): CsvText {
  const [first, second] = bytes;
  const as = (encoding: string, isGuess = false) => ({
    text: new TextDecoder(encoding, { fatal: encoding === 'utf-8' }).decode(bytes),
    isGuess,
  });
  if (first === 0xff && second === 0xfe) return as('utf-16le');
  if (first === 0xfe && second === 0xff) return as('utf-16be');
  try {
    return as('utf-8');
  } catch {
    const { language, script } = locale.maximize();
    return as(encodingOf(`${language}-${script}`) ?? encodingOf(language) ?? 'windows-1252', true);
  }
}

const encodingOf = (language: string) =>
  Object.entries(encodingsOfExcel).find(([, languages]) => languages.includes(language))?.[0];

/** Those of Windows in these languages, some in one of their scripts; in all others, it is 1252. */
const encodingsOfExcel: Readonly<Record<string, readonly string[]>> = {
  'windows-1250': ['bs', 'cs', 'hr', 'hu', 'pl', 'ro', 'sk', 'sl', 'sq', 'sr-Latn'],
  'windows-1251': ['az-Cyrl', 'be', 'bg', 'bs-Cyrl', 'kk', 'mk', 'ru', 'sr', 'uk'],
  'windows-1253': ['el'],
  'windows-1254': ['az', 'tr'],
  'windows-1255': ['he'],
  'windows-1256': ['ar', 'fa'],
  'windows-1257': ['et', 'lt', 'lv'],
  'windows-1258': ['vi'],
  'windows-874': ['th'],
  shift_jis: ['ja'],
  'euc-kr': ['ko'],
  gbk: ['zh'],
  big5: ['zh-Hant'],
};
