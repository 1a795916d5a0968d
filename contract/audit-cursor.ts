/** A position in the audit log, newest first, ties by id. */
export type Position = { timestamp: Date; audit_id: string };

/** The text of a position for the URL of the next page, read by `readCursor`. */
export const writeCursor = ({ timestamp, audit_id }: Position): string =>
  btoa(`${timestamp.toISOString()} ${audit_id}`).replace(/=+$/, '');

const cursor = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** What `writeCursor` writes: 61 characters in base64, which use neither `+` nor `/`. */
export const cursorText = /^[a-zA-Z0-9]{82}$/;

/** The position that `writeCursor` wrote; null for any other text. */
export function readCursor(text: string): Position | null {
  const [, at, audit_id] = (cursorText.test(text) && cursor.exec(atob(text))) || [];
  return at && audit_id && !Number.isNaN(Date.parse(at)) ? { timestamp: new Date(at), audit_id } : null;
}
