import { Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import { newRelease, type ReleaseValues } from './release-form.ts';
import { NewReleaseForm } from './NewReleaseForm.tsx';
import type { ChosenFile } from './upload-file.ts';
import { uploadList, useUploads } from './upload-session.ts';
import classes from './uploads.module.css';
import { UploadUnderWay } from './UploadUnderWay.tsx';

/** Upload New Release (spec part 2, section 2.2). An upload goes on when the modal is closed. */
export default function UploadModal({ onClose }: { onClose: () => void }) {
  const [begun, setBegun] = useState<{ id: string; values: ReleaseValues; chosen: ChosenFile }>();
  const [draft, setDraft] = useState<{ values: ReleaseValues; chosen: ChosenFile | null }>({
    values: newRelease,
    chosen: null,
  });
  const upload = useUploads().find(({ id }) => id === begun?.id);
  const done = upload?.status === 'done';
  useEffect(() => {
    if (done) onClose();
  }, [done, onClose]);

  const backToForm = () => {
    if (!begun) return;
    uploadList.dismiss(begun.id);
    setDraft(begun);
    setBegun(undefined);
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title="Upload New Release"
      size={560}
      classNames={{ content: classes.content! }}
    >
      {begun && upload ? (
        <UploadUnderWay upload={upload} onBack={backToForm} onClose={onClose} />
      ) : (
        <NewReleaseForm
          start={draft.values}
          startFile={draft.chosen}
          onUpload={(id, values, chosen) => setBegun({ id, values, chosen })}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}
