import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { licenseRefusal, type License } from '../../../contract/licenses.ts';
import { runBulk, type BulkResult } from '../../bulk-run.ts';
import { acceptedSentence, refusedSentence } from '../../impact-labels.ts';
import { BoxedList } from '../../ui/BoxedList.tsx';
import { BulkFailures } from '../../ui/BulkFailures.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { aboutLicenses } from '../../toast-subjects.ts';
import { useChange } from '../../use-change.ts';
import { BulkProgress } from './BulkProgress.tsx';
import { countOf } from './license-labels.ts';
import { licenseImpactQuery, reactivateLicense, revokeLicense } from './queries.ts';

type Kind = 'revoke' | 'reactivate';
type Result = BulkResult<License>;

const kinds = {
  revoke: {
    label: 'Revoke',
    past: 'revoked',
    change: revokeLicense,
    back: 'reactivate',
    sentence: refusedSentence,
  },
  reactivate: {
    label: 'Reactivate',
    past: 'reactivated',
    change: reactivateLicense,
    back: 'revoke',
    sentence: acceptedSentence,
  },
} as const;

/** Revokes or reactivates many licenses: confirms, shows the progress, and lists failures. */
export function BulkChange(props: {
  kind: Kind;
  licenses: License[];
  onDone: () => void;
  onClose: () => void;
}) {
  const { label, past } = kinds[props.kind];
  const able = props.licenses.filter((license) => licenseRefusal[props.kind](license) === null);
  const { run, notifyDone, finished, stop } = useBulk(props.kind, (result) => {
    if (result.failed.length === 0) props.onClose();
    props.onDone();
  });
  // Only now: otherwise the Undo notification would time out while the user reads the failures.
  const close = () => {
    if (run.data) notifyDone(run.data);
    props.onClose();
  };
  if (run.isIdle) return <Question {...props} able={able} onConfirm={() => run.mutate(able)} />;
  return (
    <Dialog
      title={`${label} ${countOf(able.length)}`}
      held={run.isPending ? 'all' : undefined}
      onClose={close}
    >
      <Stack gap="md">
        {run.data ? (
          <BulkFailures
            sentence={`${countOf(run.data.done.length)} ${past}. ${countOf(run.data.failed.length)} could not be ${past}:`}
            label="Licenses"
            failed={run.data.failed.map(({ item, reason }) => ({
              id: item.licenseId,
              name: <span className="mono">{item.licenseKey}</span>,
              reason,
            }))}
            onClose={close}
          />
        ) : (
          <BulkProgress finished={finished} total={able.length} onStop={stop} />
        )}
      </Stack>
    </Dialog>
  );
}

function useBulk(kind: Kind, onEnd: (result: Result) => void) {
  const { change, past, back } = kinds[kind];
  const [finished, setFinished] = useState(0);
  const abort = useRef(new AbortController());
  const undo = useChange({
    mutationFn: (licenses: License[]) =>
      runBulk(licenses, (license) => kinds[back].change(license.licenseId)),
    onSuccess: ({ done, failed }) => {
      const message = `${countOf(done.length)} ${kinds[back].past}`;
      const subject = aboutLicenses(done, kind === 'revoke' ? 'active' : 'revoked');
      void toast(
        failed.length
          ? { message: `${message}, ${failed.length} failed`, subject, tone: 'red' }
          : { message, subject },
      );
    },
  });
  const notifyDone = ({ done }: Result) => {
    if (done.length === 0) return;
    void toast({
      message: `${countOf(done.length)} ${past}`,
      subject: aboutLicenses(done, kind === 'revoke' ? 'revoked' : 'active'),
      undo: () => undo.mutate(done),
    });
  };
  const run = useChange({
    mutationFn: (licenses: License[]) =>
      runBulk(licenses, (license) => change(license.licenseId), {
        signal: abort.current.signal,
        onProgress: setFinished,
      }),
    onSuccess: (result) => {
      if (result.failed.length === 0) notifyDone(result);
      onEnd(result);
    },
  });
  return { run, notifyDone, finished, stop: () => abort.current.abort() };
}

function Question(props: {
  kind: Kind;
  licenses: License[];
  able: License[];
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { kind, able } = props;
  const { label, sentence } = kinds[kind];
  const left = props.licenses.flatMap((license) => licenseRefusal[kind](license) ?? []);
  const consequences = useQuery({
    ...licenseImpactQuery(able),
    select: ({ machines }) => [sentence(machines)],
  });
  return (
    <ConfirmDialog
      title={`${label} ${countOf(able.length)}`}
      message={
        <>
          Are you sure you want to {kind}{' '}
          {able.length === 1 ? 'this license' : `these ${countOf(able.length)}`}?
        </>
      }
      consequences={consequences}
      confirmLabel={label}
      onConfirm={props.onConfirm}
      onClose={props.onClose}
    >
      <BoxedList label="Licenses">
        {able.map((license) => (
          <li key={license.licenseId}>
            <span className="mono">{license.licenseKey}</span>{' '}
            <Text span c="dimmed">
              {license.customer?.name}
            </Text>
          </li>
        ))}
      </BoxedList>
      {left.length > 0 && (
        <Text c="dimmed">
          {countOf(left.length)} left out: {[...new Set(left)].join(', ')}
        </Text>
      )}
    </ConfirmDialog>
  );
}
