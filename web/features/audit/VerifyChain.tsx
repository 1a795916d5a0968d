import { Alert, Button, CloseButton, Popover, Stack, Text } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { useState } from 'react';
import type { AuditVerification } from '../../../contract/audit.ts';
import { messageOf } from '../../api-error.ts';
import { useChange } from '../../use-change.ts';
import classes from './audit.module.css';
import { verifyChain } from './audit-calls.ts';

/** Checks the sealed chain, and says whether it is whole or which entry breaks it. */
export function VerifyButton({ onOpen }: { onOpen: (entry: string) => void }) {
  const [opened, setOpened] = useState(false);
  const verify = useChange({ mutationFn: verifyChain, onSettled: () => setOpened(true) });
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={360}
      position="bottom-end"
      shadow="md"
      radius={8}
      trapFocus
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconShieldCheck size={15} stroke={1.75} />}
          loading={verify.isPending}
          onClick={() => verify.mutate()}
        >
          Verify
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.verdict} aria-label="Verification">
        <CloseButton
          size="sm"
          aria-label="Close"
          className={classes.close}
          onClick={() => setOpened(false)}
        />
        {verify.data && <Verdict result={verify.data} onOpen={onOpen} />}
        {verify.error && (
          <Text c="var(--mantine-color-error)" role="alert">
            The check did not run. {messageOf(verify.error)}
          </Text>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

function Verdict({ result, onOpen }: { result: AuditVerification; onOpen: (entry: string) => void }) {
  const { broken } = result;
  if (!broken) {
    return (
      <Alert color="teal" variant="light" title="The chain is whole" classNames={tones('teal')} role="status">
        {counted(result.checkedEntries)} checked in {seconds(result.durationMs)}
        {result.anchors > 0 && `, from the last of ${counted(result.anchors, 'clean-up')} on`}. None was
        altered, removed or inserted.
      </Alert>
    );
  }
  return (
    <Alert color="red" variant="light" title="The chain is broken" classNames={tones('red')}>
      <Stack gap={6} align="flex-start">
        <span>{broken.problem}</span>
        {broken.sequence !== null && <span>Place in the chain: {broken.sequence.toLocaleString('en')}</span>}
        {broken.audit_id && (
          <>
            <span className="mono" style={{ overflowWrap: 'anywhere' }}>
              {broken.audit_id}
            </span>
            <Button size="compact-xs" variant="default" onClick={() => onOpen(broken.audit_id!)}>
              Open entry
            </Button>
          </>
        )}
      </Stack>
    </Alert>
  );
}

const tones = (tone: 'teal' | 'red') => ({
  root: classes[`${tone}Box`]!,
  title: classes[`${tone}Text`]!,
  message: classes[`${tone}Text`]!,
});

const counted = (n: number, noun = 'entry') =>
  `${n.toLocaleString('en')} ${n === 1 ? noun : noun.replace(/y$/, 'ie') + 's'}`;

const seconds = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
