import { useEffect, useState } from 'react';
import { newRelease, valuesOf, type NewReleaseValues } from './new-release.ts';
import { NewReleaseForm } from './NewReleaseForm.tsx';
import type { ChosenFile } from './upload-file.ts';
import { currentUser, uploadList, useUploads } from './upload-session.ts';
import classes from './uploads.module.css';
import { UploadInProgress } from './UploadInProgress.tsx';
import { Dialog } from '../../ui/Dialog.tsx';

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
  const [draft, setDraft] = useState<NewReleaseValues>(newRelease);
  const [corrected, setCorrected] = useState<string>();
  const [isRestored, setRestored] = useState(false);
  useEffect(() => {
    void uploadList.restore(currentUser()).then(() => setRestored(true));
  }, []);
  const upload = useUploads().find(({ id }) => id === uploadId);
  const done = upload?.status === 'done';
  useEffect(() => {
    if (done) onClose();
  }, [done, onClose]);
  const isAwaited = uploadId !== undefined && !isRestored;

  return (
    <Dialog title="Upload New Release" size={560} contentClass={classes.content} onClose={onClose}>
      {upload ? (
        <UploadInProgress
          upload={upload}
          onBack={() => {
            setDraft(valuesOf(upload.fields));
            setCorrected(upload.id);
            onUpload(undefined);
          }}
          onClose={onClose}
        />
      ) : (
        !isAwaited && (
          <NewReleaseForm
            start={draft}
            startFile={chosen}
            corrected={corrected}
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
