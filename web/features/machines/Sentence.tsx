import { RecordLink } from '../../shell/RecordLink.tsx';
import type { SentenceParts } from './event-sentence.ts';

/** What a machine did, with the version linked to its release; behind the sentence where that does not say it. */
export function Sentence(props: {
  parts: SentenceParts;
  of: { toVersion: string | null; releaseId: string | null };
}) {
  const [before, version, after] = props.parts;
  const { toVersion, releaseId } = props.of;
  const release = (name: string) =>
    releaseId ? (
      <RecordLink kind="release" id={releaseId} inherit>
        {name}
      </RecordLink>
    ) : (
      name
    );
  return (
    <>
      {before}
      {version && release(version)}
      {after}
      {!version && releaseId && toVersion && <span className="dimmed"> ({release(toVersion)})</span>}
    </>
  );
}
