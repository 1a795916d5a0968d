import { Fragment } from 'react';
import type { AuditEntry } from '../../../contract/audit.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { summaryWords } from './audit-words.ts';
import { namedParts } from './named-parts.ts';

/**
 * What happened in words, with each record that it names linked to its page. `hostNames`: say them in place of machine
 * ids.
 */
export function Summary(props: {
  of: Pick<AuditEntry, 'changes_summary' | 'event_type' | 'records'>;
  hostNames?: boolean;
}) {
  const { of, hostNames = false } = props;
  return namedParts(of.changes_summary, of.records).map((part, index) =>
    typeof part === 'string' ? (
      <FromLeft key={index}>{summaryWords(of.event_type, part)}</FromLeft>
    ) : (
      <bdi key={index}>
        <RecordLink
          kind={part.kind}
          id={part.id}
          inherit
          title={(hostNames ? part.name : part.hostname) ?? undefined}
        >
          {(hostNames && part.hostname) || part.name}
        </RecordLink>
      </bdi>
    ),
  );
}

/** What happened to a record, for its own history, whose lines leave out its name. */
export const OwnSummary = ({ event, what }: { event: string; what: string }) => (
  <FromLeft>{summaryWords(event, `: ${what}`).slice(2)}</FromLeft>
);

/** Text with `before → after`, which stay at their sides of the arrow where both are Arabic or Hebrew. */
export const FromLeft = ({ children }: { children: string }) =>
  children.split('→').map((part, index) => (
    <Fragment key={index}>
      {index > 0 && '→'}
      <span dir="ltr">{part}</span>
    </Fragment>
  ));
