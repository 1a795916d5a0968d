import { useQuery } from '@tanstack/react-query';
import { unfedReasonOf } from '../../../contract/fed-kinds.ts';
import type { Release } from '../../../contract/releases.ts';
import { Loaded } from '../../LoadError.tsx';
import { useSeen } from '../../kept-work.ts';
import { rolloutDefaultsQuery } from '../../plan-suggestion.ts';
import { ReachConfirm } from '../../ReachConfirm.tsx';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { EditReleaseForm } from './EditReleaseForm.tsx';
import { ChannelBadge } from './release-cells.tsx';
import { conflictRows } from './release-conflict.ts';
import { platformText } from '../../platform-text.ts';
import classes from './edit-release.module.css';
import { releaseQuery } from './queries.ts';
import { useSaveRelease } from './use-save-release.ts';

const width = 480;

/** Edits a release (spec part 2, section 2.3). */
export default function EditRelease({ id, onClose }: { id: string; onClose: () => void }) {
  const release = useQuery(releaseQuery(id));
  // a release that is published before they are known would have no steps
  const defaults = useQuery(rolloutDefaultsQuery());
  return (
    <Dialog
      title="Edit Release"
      subject={release.data?.version}
      detail={release.data && <Which release={release.data} />}
      size={width}
      onClose={onClose}
    >
      <Loaded query={release} title="Error loading release" record="release">
        {/* not `isLoading`, which is true again while what failed is tried again: the form would lose its input */}
        {!release.data || !defaults.isFetched ? (
          <FormSkeleton heights={[36, 36, 48, 48, 110]} />
        ) : (
          <Edit release={release.data} onClose={onClose} />
        )}
      </Loaded>
    </Dialog>
  );
}

/** Says which release it is: version, channel, platform and architecture. */
function Which({ release }: { release: Release }) {
  return (
    <span className={classes.subtitle}>
      Version {release.version} <ChannelBadge channel={release.channel} />{' '}
      {platformText(release.platform, release.architecture)}
    </span>
  );
}

function Edit({ release, onClose }: { release: Release; onClose: () => void }) {
  const [seen] = useSeen(release.id, release);
  const edit = useSaveRelease(seen, onClose);

  return (
    <>
      <EditReleaseForm
        release={seen}
        busy={edit.busy}
        saved={edit.saved}
        isPartlySaved={edit.isPartlySaved}
        error={edit.error}
        onSubmit={edit.submit}
        onCancel={onClose}
      />
      {edit.reaching && (
        <ReachConfirm
          title={edit.reaching.publishes ? 'Publish Release' : 'Offer to More Users'}
          confirmLabel={edit.reaching.publishes ? 'Publish' : 'Offer'}
          build={{ ...seen, ...edit.reaching.reach }}
          unfed={unfedReasonOf(seen)}
          onConfirm={edit.confirmReach}
          onClose={edit.reset}
        />
      )}
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}
