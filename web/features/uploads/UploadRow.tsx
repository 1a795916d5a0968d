import { ActionIcon, FileButton, Button, Group, Progress, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { acceptedExtensions } from '../../../contract/file-names.ts';
import { paths } from '../../paths.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { ScreenLink } from '../../ui/ScreenLink.tsx';
import { IconPlayerPause, IconPlayerPlay, IconRefresh, IconX } from '../../ui/icons.tsx';
import type { Upload } from './upload-list.ts';
import { uploadList } from './upload-session.ts';
import { buildText, percentOf, progressText, stateText } from './upload-labels.ts';
import classes from './uploads.module.css';
import { classNames } from '../../ui/class-names.ts';

/** One upload: its build, its progress, and its buttons. */
export function UploadRow({ upload }: { upload: Upload }) {
  const { status, fileName, message, note } = upload;
  const percent = percentOf(upload);
  const over = status === 'done' || status === 'cancelled';
  return (
    <div className={classes.row}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <div className={classes.what}>
          <div className={classes.name}>{fileName}</div>
          <div className={classes.small}>{buildText(upload)}</div>
        </div>
        <Controls upload={upload} />
      </Group>
      {!over && (
        <Progress.Root size={6} className={classes.progress}>
          <Progress.Section
            value={percent}
            color={barColor(upload)}
            aria-label={`Upload of ${fileName}`}
            aria-valuetext={`${stateText(upload)}, ${percent} percent`}
          />
        </Progress.Root>
      )}
      <div className={classes.small}>
        <span className={classes.state}>{stateText(upload)}</span>
        {status !== 'cancelled' && ` · ${progressText(upload)}`}
        {status === 'done' && (
          <>
            {' · '}
            <ScreenLink
              to={paths.releases}
              search={{ search: upload.fields.version, edit: upload.releaseId ?? undefined }}
              fz={12}
              underline="always"
            >
              View releases
            </ScreenLink>
          </>
        )}
      </div>
      {note && !over && <Text className={classes.note}>{note}</Text>}
      {message && (
        <Text {...classNames({ className: status === 'cancelled' ? classes.small : classes.message })}>
          {message}
          {status === 'waiting' && ' — resumes by itself as soon as the server can be reached.'}
        </Text>
      )}
      {status === 'needs-file' && <FileAgain upload={upload} />}
    </div>
  );
}

function barColor({ status, phase }: Upload): string {
  if (status === 'failed') return 'var(--ui-red-solid)';
  if (status === 'waiting' || status === 'needs-file') return 'var(--ui-amber-solid)';
  if (status === 'pausing' || status === 'paused') return 'gray';
  return phase === 'hashing' ? 'var(--ui-teal-solid)' : 'ink';
}

function Controls({ upload }: { upload: Upload }) {
  const { id, status, phase, fileName } = upload;
  const over = status === 'done' || status === 'cancelled';
  // the server has the whole file: nothing can be cancelled
  const finishing = status === 'running' && phase === 'finishing';
  const [isAsking, setAsking] = useState(false);
  // for good: it would open again, over whatever is typed by then, once the server could not finish
  if (isAsking && (over || finishing)) setAsking(false);
  return (
    <Group gap={2} wrap="nowrap">
      {isAsking && (
        <ConfirmDialog
          title="Cancel Upload"
          message={`Cancel the upload of ${fileName}? What was sent of it is deleted.`}
          consequences="affects nobody else"
          confirmLabel="Cancel Upload"
          cancelLabel="Keep Uploading"
          onConfirm={() => {
            setAsking(false);
            uploadList.cancel(id);
          }}
          onClose={() => setAsking(false)}
        />
      )}
      {!over && !finishing && status !== 'needs-file' && <MainControl upload={upload} />}
      {!over && !finishing && (
        <Control label={`Cancel ${fileName}`} icon={<IconX stroke={2} />} onClick={() => setAsking(true)} />
      )}
      {over && (
        <Control
          label={`Remove ${fileName} from this list`}
          icon={<IconX stroke={2} />}
          onClick={() => uploadList.dismiss(id)}
        />
      )}
    </Group>
  );
}

/** One button for all states, so that it keeps the focus. */
function MainControl({ upload: { id, status, fileName } }: { upload: Upload }) {
  if (status === 'running' || status === 'pausing') {
    const label = status === 'running' ? `Pause ${fileName}` : `Pause ${fileName} immediately`;
    const icon = <IconPlayerPause stroke={2} />;
    return <Control label={label} icon={icon} onClick={() => uploadList.pause(id)} />;
  }
  const [verb, icon] =
    status === 'failed'
      ? ['Retry', <IconRefresh key="retry" stroke={2} />]
      : ['Resume', <IconPlayerPlay key="resume" stroke={2} />];
  return <Control label={`${verb} ${fileName}`} icon={icon} onClick={() => void uploadList.resume(id)} />;
}

function Control({ label, icon, onClick }: { label: string; icon: ReactNode; onClick: () => void }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      aria-label={label}
      title={label}
      // another button takes its place: that of the next upload, or Pause that of Resume
      {...pressOnce(onClick)}
    >
      {icon}
    </ActionIcon>
  );
}

/** After a reload the browser does not let the page read the file again without permission. */
function FileAgain({ upload }: { upload: Upload }) {
  const { id, hasHandle, message } = upload;
  return (
    <Group gap="xs" mt={6}>
      {!message && (
        <Text className={classes.small}>
          {hasHandle
            ? 'The page was reloaded. Allow it to read the file again.'
            : 'The page was reloaded. Choose the same file again; uploaded parts are not sent again.'}
        </Text>
      )}
      {hasHandle && (
        <Button size="compact-xs" onClick={() => void uploadList.resume(id)}>
          Resume
        </Button>
      )}
      <FileButton
        accept={acceptedExtensions.join(',')}
        onChange={(file) => file && void uploadList.resume(id, { file, handle: null })}
      >
        {(props) => (
          <Button {...props} size="compact-xs" variant={hasHandle ? 'default' : 'filled'}>
            Choose File
          </Button>
        )}
      </FileButton>
    </Group>
  );
}
