import { signInAgain } from '../../api-error.ts';
import { queryClient } from '../../query-client.ts';
import { getSession, sessionStore } from '../../session-store.ts';
import { createStore, useStore } from '../../ui/store.ts';
import { toast } from '../../ui/toast.tsx';
import { hashFile } from './hash-file.ts';
import { createUploadList, type Upload } from './upload-list.ts';
import { uploadRecords } from './upload-records.ts';
import { transport } from './upload-transport.ts';
import { setUploadsShown } from './uploads-wanted.ts';

/*
 * The uploads of this page. They live outside React, so that they go on while staff look at other screens, and
 * belong to whoever is signed in.
 */

let all: readonly Upload[] = [];
const mine = createStore<readonly Upload[]>([]);

export const uploadList = createUploadList({
  transport,
  hashFile,
  records: uploadRecords,
  claim,
  now: () => performance.now(),
  onChange(uploads) {
    all = uploads;
    publish();
  },
  onDone({ fields }) {
    // The release came with the answer: lists only have to show it (spec part 2, section 2.2).
    void queryClient.invalidateQueries();
    void toast({ message: `Release ${fields.version} uploaded` });
  },
});

/** The uploads of the person who is signed in. */
export const useUploads = (): readonly Upload[] => useStore(mine);

export const currentUser = (): string => getSession()?.user.userId ?? '';

function publish(): void {
  const user = currentUser();
  mine.set(all.filter((upload) => upload.owner === user));
  setUploadsShown(mine.get().length > 0);
  guardLeaving(all.some(({ status }) => status === 'running' || status === 'pausing'));
}

sessionStore.subscribe(() => {
  if (!getSession()) uploadList.pauseAll(signInAgain);
  publish();
});

window.addEventListener('online', uploadList.retryWaiting);

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** The listener stands only while it is needed: with it a browser cannot keep the page for the back button. */
function guardLeaving(running: boolean): void {
  if (running) window.addEventListener('beforeunload', warn);
  else window.removeEventListener('beforeunload', warn);
}

/** Another tab that is at it holds the lock. Web Locks exist only on https and localhost. */
function claim(id: string): Promise<(() => void) | null> {
  if (!('locks' in navigator)) return Promise.resolve(() => undefined);
  return new Promise((resolve) => {
    void navigator.locks.request(`lanyard-upload-${id}`, { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    });
  });
}
