import { Button, Stack } from '@mantine/core';
import type { AuditVerification } from '../../../contract/audit.ts';
import { countText } from '../../ui/numbers.ts';
import { ToneAlert } from '../../ui/ToneAlert.tsx';
import { Chain } from './Chain.tsx';

/** Describes a break of the chain, with a link to the entry where there is one. */
export function Break(props: {
  broken: NonNullable<AuditVerification['broken']>;
  onOpen: (entry: string) => void;
}) {
  const { audit_id, sequence, problem } = props.broken;
  return (
    <ToneAlert tone="red" title="The chain is broken">
      <Stack gap={6} align="flex-start">
        <Chain state="broken" height={20} />
        <span>{problem}</span>
        {sequence !== null && <span>Place in the chain: {countText(sequence)}</span>}
        {audit_id && (
          <>
            <span className="mono" style={{ overflowWrap: 'anywhere' }}>
              {audit_id}
            </span>
            <Button size="compact-xs" variant="default" onClick={() => props.onOpen(audit_id)}>
              Open Entry
            </Button>
          </>
        )}
      </Stack>
    </ToneAlert>
  );
}
