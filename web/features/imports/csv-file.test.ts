import { describe, expect, it } from 'vitest';
import { localeOf } from '../../ui/locale.ts';
import { decoded, textOfCsvFile } from './csv-file.ts';

const text = 'Customer;Type\r\nKlinik Süd, Nürnberg;trial';

describe('a chosen file', () => {
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, the other way round', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('is read in %s', (_, bytes) => {
    expect(decoded(new Uint8Array(bytes))).toEqual({ text, isGuess: false });
  });

  it.each([
    ['en-GB', 'Süd', [0x53, 0xfc, 0x64]],
    ['pl', 'Św. Ł', [0x8c, 0x77, 0x2e, 0x20, 0xa3]],
    ['ru-RU', 'Юг', [0xde, 0xe3]],
    ['tr', 'Ş', [0xde]],
    ['ja-JP', '東', [0x93, 0x8c]],
    ['zh-CN', '东', [0xb6, 0xab]],
    ['zh-TW', '東', [0xaa, 0x46]],
    ['sr', 'Љ', [0x8a]],
    ['sr-Latn-RS', 'Š', [0x8a]],
    ['bs-Cyrl', 'Љ', [0x8a]],
  ])('that is not Unicode is read as Excel saves it on a Windows in %s: %s', (locale, letters, bytes) => {
    expect(decoded(new Uint8Array(bytes), localeOf(locale))).toEqual({ text: letters, isGuess: true });
  });

  it('that is no CSV is refused', async () => {
    await expect(textOfCsvFile(new File(['PK\x03\x04\0\0'], 'sheet.xlsx'))).rejects.toThrow(
      'sheet.xlsx is not a CSV file. Save the sheet as CSV first.',
    );
    await expect(textOfCsvFile(new File(['x'.repeat(1_000_001)], 'large.csv'))).rejects.toThrow(
      'large.csv is too large. Split it.',
    );
    await expect(textOfCsvFile(new File(['\ufeff\r\n'], 'empty.csv'))).rejects.toThrow('empty.csv is empty.');
  });
});
