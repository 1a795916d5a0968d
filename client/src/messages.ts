import type { LocalCode } from './types.ts';

/** What the client tells the person where no decision of the server counts. */
export const messages: Record<LocalCode | 'EXPIRED' | 'NOT_YET_VALID', string> = {
  NO_ANSWER:
    'The license could not be checked: the license server did not answer. Check the network connection.',
  OFFLINE_TOO_LONG:
    'The license could not be checked for too long. Connect this machine to the network, then start again.',
  FILE_ENDED: 'The license file has expired. Ask the vendor for a new one.',
  CLOCK_SET_BACK:
    'The clock of this machine is behind. Set it to the right date and time, then start again. If it is right, connect this machine to the network, or make a new request for a license file.',
  TIMES_MISSING:
    'The license could not be checked: files of the program are missing. Connect this machine to the network, or make a new request for a license file.',
  NOT_AUTHENTIC: 'The license could not be checked: the answer did not come from the license server.',
  NOT_ENROLLED: 'The license server does not accept this machine.',
  NO_MACHINE_KEY: 'The program cannot keep its license on this machine. Its folder must be writable.',
  // the same as the server says it
  EXPIRED: 'The license has expired.',
  NOT_YET_VALID: 'The license is not valid yet.',
};

/** What only the clock of the machine decides looks the same where that clock is wrong. */
export const byClock = (message: string, date: string): string =>
  `${message} The clock of this machine says ${date} (UTC): if that is wrong, set it, then start again.`;
