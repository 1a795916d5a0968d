/** Fewer digits before a slash are an area code, as in 089/4140-0. */
const fewestOfNumber = 8;

/**
 * What a phone dials of a number as people write it: without the 0 of +49 (0)228, which Italy and San Marino dial, an
 * extension and further numbers.
 */
export function dialed(phone: string): string {
  const [written = ''] = /[+\d][^,;\p{L}]*/u.exec(phone) ?? [];
  const digits = written.replace(/^((?:\+|00)(?!39|378)[\d\s.-]*)\(0\)/, '$1').replaceAll(/[^+\d/]/g, '');
  const [first = '', second = ''] = digits.split('/');
  return first.replace('+', '').length < fewestOfNumber ? first + second : first;
}
