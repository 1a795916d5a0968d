/**
 * Copies a text, and says whether that succeeded. Browsers offer `navigator.clipboard` over https alone, and a console
 * in a house network is often reached without it: there the older command does it.
 */
export async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let done = false;
  const put = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    done = event.clipboardData !== null;
  };
  document.addEventListener('copy', put);
  document.execCommand('copy');
  document.removeEventListener('copy', put);
  return done;
}
