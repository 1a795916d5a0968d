/** Digits and signs as East Asian keyboards write them, as others do: `２５：３０` is `25:30`. */
export const halfWidth = (text: string): string =>
  text.replaceAll(/[！-～]/g, (sign) => sign.normalize('NFKC'));
