import { useEffect, useState } from 'react';
import { newRelease, valuesOf, type NewReleaseValues } from './new-release.ts';
import { NewReleaseForm } from './NewReleaseForm.tsx';
import type { ChosenFile } from './upload-file.ts';
import type { Upload } from './upload-list.ts';
import { currentUser, uploadList, useUploads } from './upload-session.ts';
import classes from './uploads.module.css';
import { UploadInProgress } from './UploadInProgress.tsx';
import { Dialog } from '../../ui/Dialog.tsx';

type Last = Partial<Pick<Upload, 'id' | 'fields'>> & { values: NewReleaseValues };

/**
 * Upload New Release (spec part 2, section 2.2). An upload continues when the modal is closed, and is shown again after
 * a reload.
 */
export default function UploadModal(props: {
  uploadId: string | undefined;
  onUpload: (id: string | undefined) => void;
  onClose: () => void;
}) {
  const { uploadId, onUpload, onClose } = props;
  const [chosen, setChosen] = useState<ChosenFile | null>(null);
  /** Of the last upload: however that leaves the list, the form has its values. */
  const [last, setLast] = useState<Last>({ values: newRelease });
  const [isRestored, setRestored] = useState(false);
  useEffect(() => {
    void uploadList.restore(currentUser()).then(() => setRestored(true));
  }, []);
  const upload = useUploads().find(({ id }) => id === uploadId);
  if (upload && upload.fields !== last.fields)
    setLast({ id: upload.id, fields: upload.fields, values: valuesOf(upload.fields) });
  const done = upload?.status === 'done';
  useEffect(() => {
    if (done) onClose();
  }, [done, onClose]);
  const isAwaited = uploadId !== undefined && !isRestored;

  return (
    <Dialog title="Upload New Release" size={560} contentClass={classes.content} onClose={onClose}>
      {upload ? (
        <UploadInProgress upload={upload} onBack={() => onUpload(undefined)} onClose={onClose} />
      ) : (
        !isAwaited && (
          <NewReleaseForm
            start={last.values}
            startFile={chosen}
            corrected={last.id}
            onUpload={(id, file) => {
              setChosen(file);
              onUpload(id);
            }}
            onClose={onClose}
          />
        )
      )}
    </Dialog>
  );
}
