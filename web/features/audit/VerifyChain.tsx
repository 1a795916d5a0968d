import { Button, CloseButton, Popover, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { AuditVerification } from '../../../contract/audit.ts';
import { counted } from '../../ui/counted.ts';
import { messageOf } from '../../api-error.ts';
import { IconShieldCheck } from '../../ui/icons.tsx';
import { useChange } from '../../use-change.ts';
import classes from './audit.module.css';
import { chainQuery, verifyChain } from './queries.ts';
import { Break } from './Break.tsx';
import { Chain } from './Chain.tsx';
import { fixedText } from '../../ui/numbers.ts';
import { ToneAlert } from '../../ui/ToneAlert.tsx';

/** Verifies the chain, and shows whether it is intact or which entry breaks it. */
export function VerifyButton({ onOpen }: { onOpen: (entry: string) => void }) {
  const [shown, show] = useState<{ takesFocus: boolean }>();
  const button = useRef<HTMLButtonElement>(null);
  const client = useQueryClient();
  const verify = useChange({
    mutationFn: verifyChain,
    onSettled: () => {
      // unless the user went on to something else while it ran
      show({ takesFocus: isOn(button.current) });
      void client.invalidateQueries(chainQuery);
    },
  });
  const close = () => {
    show(undefined);
    // not by returnFocus of the popover: nothing had the focus when it opened, since the button was disabled
    if (shown?.takesFocus) button.current?.focus();
  };
  return (
    <Popover
      opened={shown !== undefined}
      onChange={(isOpen) => isOpen || close()}
      width={360}
      position="bottom-end"
      shadow="md"
      radius={8}
      trapFocus={shown?.takesFocus ?? false}
    >
      <Popover.Target>
        <Button
          ref={button}
          variant="default"
          leftSection={<IconShieldCheck />}
          loading={verify.isPending}
          onClick={() => verify.mutate()}
        >
          Verify
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.verdict} aria-label="Verification">
        <CloseButton size="sm" aria-label="Close" className={classes.close} onClick={close} />
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

/** The focus is on the button, or nowhere, since the button is disabled while it waits. */
const isOn = (button: Element | null) =>
  document.activeElement === button || document.activeElement === document.body;

function Verdict({ result, onOpen }: { result: AuditVerification; onOpen: (entry: string) => void }) {
  const { broken } = result;
  if (!broken) {
    return (
      <ToneAlert tone="teal" title="The chain is whole" role="status">
        <Chain state="whole" height={20} />
        <div>
          {counted(result.checkedEntries, 'entry', 'entries')} checked in {seconds(result.durationMs)}
          {result.anchors > 0 && `, from the last of ${counted(result.anchors, 'cleanup')} on`}
          {result.acceptedGaps > 0 && `, with ${counted(result.acceptedGaps, 'accepted gap')}`}. None was
          altered, removed or inserted.
        </div>
      </ToneAlert>
    );
  }
  return <Break broken={broken} onOpen={onOpen} />;
}

const seconds = (ms: number) => (ms < 1000 ? `${ms} ms` : `${fixedText(ms / 1000, 1)} s`);
