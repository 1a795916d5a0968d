import { useEffect, useState, type DragEvent } from 'react';

/** Props of an element that something can be dropped on; `data-over` is set while it is dragged over it. */
export function useDropZone(onDrop: (event: DragEvent) => void) {
  const [over, setOver] = useState(false);
  useEffect(() => refuseDropsElsewhere(), []);
  return {
    'data-over': over || undefined,
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false);
      onDrop(event);
    },
  };
}

/** A browser opens a file that is dropped beside the element, some instead of the page. */
function refuseDropsElsewhere(): () => void {
  const refuse = (event: globalThis.DragEvent) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'none';
  };
  addEventListener('dragover', refuse);
  addEventListener('drop', refuse);
  return () => {
    removeEventListener('dragover', refuse);
    removeEventListener('drop', refuse);
  };
}

/** The same around a text field, which takes dragged text by itself: passes on one file, or says why not. */
export const useTextDropZone = (onFile: (file: File) => void, onReject: (message: string) => void) =>
  useDropZone((event) => {
    const [file, second] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    if (second) onReject('Drop one file at a time.');
    else onFile(file);
  });
