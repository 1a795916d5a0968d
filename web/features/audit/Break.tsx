import { Alert, Button, Stack } from '@mantine/core';
import type { AuditVerification } from '../../../contract/audit.ts';
import classes from './audit.module.css';
import { classNames } from '../../ui/class-names.ts';
import { countText } from '../../ui/numbers.ts';

/** Describes a break of the chain, with a link to the entry where there is one. */
export function Break(props: {
  broken: NonNullable<AuditVerification['broken']>;
  onOpen: (entry: string) => void;
}) {
  const { audit_id, sequence, problem } = props.broken;
  return (
    <Alert color="red" variant="light" title="The chain is broken" classNames={tones('red')}>
      <Stack gap={6} align="flex-start">
        <span>{problem}</span>
        {sequence !== null && <span>Place in the chain: {countText(sequence)}</span>}
        {audit_id && (
          <>
            <span className="mono" style={{ overflowWrap: 'anywhere' }}>
              {audit_id}
            </span>
            <Button size="compact-xs" variant="default" onClick={() => props.onOpen(audit_id)}>
              Open entry
            </Button>
          </>
        )}
      </Stack>
    </Alert>
  );
}

export const tones = (tone: 'teal' | 'red') =>
  classNames({
    root: classes[`${tone}Box`],
    title: classes[`${tone}Text`],
    message: classes[`${tone}Text`],
  });
