import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { CreateButton } from '../../ui/ListButtons.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const UploadModal = lazyPart(() => import('./UploadModal.tsx'));

/**
 * Opens Upload New Release. The screen keeps whether it is open, and for which upload. Only for users who may create
 * releases.
 */
export function NewReleaseButton(props: {
  opened: boolean;
  upload: string | undefined;
  onOpen: () => void;
  onUpload: (id: string | undefined) => void;
  onClose: () => void;
}) {
  const { can } = useAuth();
  if (!can.createReleases) return null;
  return (
    <>
      <CreateButton onClick={props.onOpen}>New Release</CreateButton>
      <LazyDialogs>
        {props.opened && (
          <UploadModal uploadId={props.upload} onUpload={props.onUpload} onClose={props.onClose} />
        )}
      </LazyDialogs>
    </>
  );
}
