/** Saves what an address of the page holds as a download. */
export function saveAddress(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}

/** Saves a file that the page made or fetched as a download. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  saveAddress(address, name);
  // Safari reads it after the click; every browser has started saving by then
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
