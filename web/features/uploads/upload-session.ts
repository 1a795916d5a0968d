import { queryClient } from '../../query-client.ts';
import { getSession, sessionStore } from '../../session-store.ts';
import { createStore, useStore } from '../../ui/store.ts';
import { aboutRelease } from '../../toast-subjects.ts';
import { refresh } from '../../ui/refresh.ts';
import { toast } from '../../ui/toast.tsx';
import { hashFile } from './hash-file.ts';
import { createUploadList, type Upload } from './upload-list.ts';
import { uploadRecords } from './upload-records.ts';
import { transport } from './upload-transport.ts';
import { setUploadsShown } from './uploads-wanted.ts';

/*
 * The uploads of this page. They live outside React, so that they continue while the user visits other screens, and
 * belong to the signed-in user.
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
  onDone(_, release) {
    // The response contained the release: lists only have to be refetched (spec part 2, section 2.2).
    void refresh(queryClient);
    void toast({
      message: `Release ${release.version} uploaded`,
      subject: aboutRelease(release),
    });
  },
});

/** The uploads of the signed-in user. */
export const useUploads = (): readonly Upload[] => useStore(mine);

export const currentUser = (): string => getSession()?.user.userId ?? '';

function publish(): void {
  const user = currentUser();
  mine.set(all.filter((upload) => upload.owner === user));
  setUploadsShown(mine.get().length > 0);
  guardLeaving(all.some(({ status }) => status === 'running' || status === 'pausing'));
}

let owner = currentUser();

sessionStore.subscribe(() => {
  const before = owner;
  owner = currentUser();
  // Read after signing in again. Another tab may sign somebody else in before this one sees that the session ended.
  if (owner !== before) uploadList.pauseAll('Your session ended. Resume sends the rest.');
  publish();
});

window.addEventListener('online', uploadList.retryWaiting);

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** Registered only while needed: a beforeunload listener disables the back/forward cache. */
function guardLeaving(running: boolean): void {
  if (running) window.addEventListener('beforeunload', warn);
  else window.removeEventListener('beforeunload', warn);
}

/** A tab that is working on the upload holds its lock. Web Locks exist only on https and localhost. */
function claim(id: string): Promise<(() => void) | null> {
  if (!('locks' in navigator)) return Promise.resolve(() => undefined);
  return new Promise((resolve) => {
    void navigator.locks.request(`lanyard-upload-${id}`, { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    });
  });
}
