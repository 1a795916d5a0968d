import { edgeBytes, kindOf, refuseKind } from '../../../contract/file-content.ts';
import type { UploadRecord } from './upload-engine.ts';

/** A file that a user selected or dropped, and its handle for after a reload, where the browser supports one. */
export type ChosenFile = { file: File; handle: FileSystemFileHandle | null };

/** Whether it is the same file, as far as a browser can tell without reading it. */
export const isSameFile = (file: File, record: UploadRecord): boolean =>
  file.name === record.fileName && file.size === record.fileSize && file.lastModified === record.lastModified;

type WithPermission = FileSystemFileHandle & {
  queryPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>;
  requestPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>;
};

/**
 * The file behind a handle, null where it is gone or may not be read. `asked`: requests the permission, which a browser
 * allows only on a click.
 */
export async function fileOf(handle: FileSystemFileHandle | null, asked: boolean): Promise<File | null> {
  if (!handle) return null;
  const { queryPermission, requestPermission }: WithPermission = handle;
  const permission = (asked ? requestPermission : queryPermission)?.call(handle, { mode: 'read' });
  try {
    if ((await permission) === 'denied' || (await permission) === 'prompt') return null;
    return await handle.getFile();
  } catch {
    return null;
  }
}

/** False for a file that was moved, deleted or changed since it was selected. */
export async function isReadable(file: Blob): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/**
 * Why the content of a file is not what its name says, before all of it is sent; undefined also for a file that cannot be
 * read, which the upload reports.
 */
export async function refuseContent(file: File): Promise<string | undefined> {
  const kind = kindOf(file.name);
  if (!kind || !(await isReadable(file))) return undefined;
  if (file.size === 0) return 'The file is empty.';
  const bytes = async (part: Blob) => new Uint8Array(await part.arrayBuffer());
  const [head, tail] = await Promise.all([bytes(file.slice(0, edgeBytes)), bytes(file.slice(-edgeBytes))]);
  return refuseKind(kind, { head, tail, size: file.size });
}

/** Files of a drop. Handles must be requested during the event. */
export async function droppedFiles(items: DataTransferItemList): Promise<ChosenFile[]> {
  const files = [...items].filter((item) => item.kind === 'file');
  const chosen = files.map(async (item) => {
    const file = item.getAsFile();
    const handle = await handleOf(item);
    return file && { file, handle };
  });
  return (await Promise.all(chosen)).filter((one) => one !== null);
}

type WithHandle = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

async function handleOf(item: WithHandle): Promise<FileSystemFileHandle | null> {
  const handle = await item.getAsFileSystemHandle?.().catch(() => null);
  return handle?.kind === 'file' ? (handle as FileSystemFileHandle) : null;
}
