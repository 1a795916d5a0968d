import { describe, expect, it } from 'vitest';
import { decoded, textOfCsvFile } from './csv-file.ts';

const text = 'Customer;Type\r\nKlinik Süd, Nürnberg;trial';

describe('a chosen file', () => {
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, the other way round', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['the encoding of Excel on Windows', Buffer.from(text, 'latin1')],
  ])('is read in %s', (_, bytes) => {
    expect(decoded(new Uint8Array(bytes))).toBe(text);
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
