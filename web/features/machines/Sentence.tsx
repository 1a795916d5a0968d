import { RecordLink } from '../../shell/RecordLink.tsx';
import type { SentenceParts } from './event-sentence.ts';

/** What a machine did, with the version linked to its release. */
export function Sentence(props: { parts: SentenceParts; releaseId: string | null }) {
  const [before, version, after] = props.parts;
  return (
    <>
      {before}
      {version && props.releaseId ? (
        <RecordLink kind="release" id={props.releaseId} inherit>
          {version}
        </RecordLink>
      ) : (
        version
      )}
      {after}
    </>
  );
}
