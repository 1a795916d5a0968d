import type { UploadRecord } from './upload-engine.ts';
import { setUploadsKept } from './uploads-wanted.ts';

/** Stores uploads in this browser, so that they can be resumed after a reload. */
export type UploadRecords = {
  all: () => Promise<UploadRecord[]>;
  save: (record: UploadRecord) => Promise<void>;
  remove: (id: string) => Promise<void>;
};

const store = 'uploads';

/** In a browser without storage (a private window) uploads only cannot be resumed after a reload. */
export const uploadRecords: UploadRecords = {
  all: () => inStore<UploadRecord[]>('readonly', (records) => records.getAll()).catch(() => []),
  save: (record) => inStore('readwrite', (records) => records.put(record)).then(markKept, warn),
  remove: (id) => inStore('readwrite', (records) => records.delete(id)).then(markKept, warn),
};

const markKept = async () => setUploadsKept((await inStore('readonly', (records) => records.count())) > 0);
const warn = (error: unknown) => console.warn('Upload could not be stored for a reload:', error);

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('lanyard', 1);
    request.addEventListener('upgradeneeded', () =>
      request.result.createObjectStore(store, { keyPath: 'id' }),
    );
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB cannot be opened')));
  });
  return opened;
}

async function inStore<T>(mode: IDBTransactionMode, run: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const transaction = (await database()).transaction(store, mode);
  const request = run(transaction.objectStore(store));
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve(request.result));
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB aborted')));
    transaction.addEventListener('error', () => reject(transaction.error ?? new Error('IndexedDB failed')));
  });
}
