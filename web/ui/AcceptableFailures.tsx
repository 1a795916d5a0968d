import { NumberField } from './NumberField.tsx';

type Props = Pick<Parameters<typeof NumberField>[0], 'value' | 'onChange' | 'error' | 'disabled'>;

/** The share of installs that may fail before the rollout guard pauses a release; empty: as of the previous release. */
export function AcceptableFailures(props: Props) {
  return (
    <NumberField
      label="Acceptable failures"
      description="The rollout pauses itself when clearly more installs fail. Empty: compared with the previous release."
      placeholder="As the previous release"
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      maw={280}
      min={1}
      max={50}
      unit="%"
      {...props}
    />
  );
}
