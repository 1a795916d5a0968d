import type { UpdateEvent } from '../../../contract/machines.ts';

type Told = Pick<UpdateEvent, 'eventType' | 'fromVersion' | 'toVersion' | 'errorMessage' | 'errorCode'>;

/** A sentence in parts: what stands before the version of the release that it is about, that version, and the rest. */
export type SentenceParts = [before: string, version?: string, after?: string];

/** Text of an event, in the words of spec part 2, section 2.6. */
export function eventSentence(event: Told): SentenceParts {
  const from = event.fromVersion ?? 'Unknown';
  const to = event.toVersion ?? 'Unknown';
  const why = event.errorMessage || event.errorCode || 'Unknown error';
  switch (event.eventType) {
    case 'check':
      return [`Checked for updates (current: ${from})`];
    case 'download_start':
      return ['Started downloading ', to];
    case 'download_complete':
      return ['Completed download of ', to];
    case 'download_error':
      return [`Download failed: ${why}`];
    case 'install_start':
      return ['Started installing ', to];
    case 'install_complete':
      return ['Successfully installed ', to];
    case 'install_error':
      return [`Installation failed: ${why}`];
    case 'rollback':
      return ['Rolled back from ', from, ` to ${to}`];
  }
}
