import { useQuery } from '@tanstack/react-query';
import type { FailureComparison } from '../contract/guard.ts';
import { rollouts } from '../contract/rollouts.ts';
import type { Release } from '../contract/releases.ts';
import { storedExtensionOf } from '../contract/file-names.ts';
import { isVersion } from '../contract/versions.ts';
import { askedOnce } from './query-client.ts';
import { counted } from './ui/counted.ts';
import { NumberField } from './ui/NumberField.tsx';
import { fixedText } from './ui/numbers.ts';
import { queryOf } from './query-of.ts';

type Props = Pick<Parameters<typeof NumberField>[0], 'value' | 'onChange' | 'error' | 'disabled'> & {
  build: Build;
};
type Build = Pick<Release, 'version' | 'channel' | 'platform' | 'architecture'> & {
  /** Undefined while no file is chosen. */
  fileName: string | undefined;
};

/** What the guard compares a build with; undefined while its version or file is not known. */
function comparisonQuery({ fileName = '', version, channel, platform, architecture }: Build) {
  const fileKind = storedExtensionOf(fileName)?.slice(1).toLowerCase() ?? '';
  const query = { version: version.trim(), channel, platform, architecture, fileKind };
  return queryOf(
    rollouts.failureComparison,
    { query },
    { enabled: fileKind !== '' && isVersion(query.version), ...askedOnce },
  );
}

/** The share of installs that may fail before the rollout guard pauses a release; empty: as of the previous release. */
export function AcceptableFailures({ build, ...props }: Props) {
  const { data } = useQuery(comparisonQuery(build));
  return (
    <NumberField
      label="Acceptable failures"
      description={`The rollout pauses itself when clearly more installs fail. Empty: ${emptyText(data)}.`}
      placeholder={data?.acceptableFrom === 'USUAL' ? String(data.acceptable) : 'As the previous release'}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      maw={280}
      min={1}
      max={50}
      unit="%"
      {...props}
    />
  );
}

/** What an empty field means, with the numbers of the previous release where they are known. */
export function emptyText(comparison: FailureComparison | undefined): string {
  if (!comparison) return 'compared with the previous release';
  const { acceptable, acceptableFrom, previous } = comparison;
  if (!previous) return `${acceptable} %, until there is a previous release to compare with`;
  const { version, installs, failed } = previous;
  if (acceptableFrom === 'USUAL')
    return `${acceptable} %, since ${version} has ${installs === 0 ? 'no installs' : `only ${counted(installs, 'install')}`} to compare with`;
  const share = fixedText((100 * failed) / installs, 1);
  return `compared with ${version}, which failed on ${share} % of ${counted(installs, 'install')}`;
}
