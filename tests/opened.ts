/** The servers that tests started and have not closed; `close-opened.ts` closes them after each file, the last one first. */
export const opened = new Set<{ close(): Promise<void> }>();
