import { Anchor, Button, Group, SimpleGrid, Text, TextInput } from '@mantine/core';
import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { architectures, channels } from '../../../contract/list-words.ts';
import { nextVersion, type Bump, type Channel } from '../../../contract/versions.ts';
import { usePlanSuggestion } from '../../plan-suggestion.ts';
import { useAuth } from '../../session.tsx';
import { isVersionOf } from './detect-build.ts';
import { unplanned, type KnownVersions, type NewReleaseState } from './new-release.ts';
import classes from './uploads.module.css';
import { Select } from '../../ui/Select.tsx';

/** The form offers these two (spec part 2, section 3). */
const offered = ['win32', 'darwin'] as const;
const platformChoices = offered.map((value) => ({ value, label: platformNames[value] }));
const architectureChoices = architectures.map((value) => ({ value, label: architectureNames[value] }));
const bumps: readonly Bump[] = ['patch', 'minor', 'major'];

type Props = {
  form: NewReleaseState;
  /** Of the selected platform and channel. */
  known: KnownVersions | undefined;
  /** Value of the field. */
  version: string;
  /** The version in the name of the selected file. */
  nameVersion: string | undefined;
  /** While the cursor is in the field, no suggestion replaces its value. */
  hold: { onFocus: () => void; onBlur: () => void };
};

/** The fields that identify a build: version, channel, platform and architecture. */
export function BuildInputs({ form, ...version }: Props) {
  const { can } = useAuth();
  const { suggest } = usePlanSuggestion(unplanned, can.manageRollouts);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Select
          label="Channel"
          data={channels}
          allowDeselect={false}
          {...form.getInputProps('channel')}
          onChange={(channel) =>
            channel && form.setValues(suggest(form.values, { channel: channel as Channel }))
          }
        />
        <Select
          label="Platform"
          data={platformChoices}
          allowDeselect={false}
          {...form.getInputProps('platform')}
        />
        <Select
          label="Architecture"
          data={architectureChoices}
          allowDeselect={false}
          {...form.getInputProps('architecture')}
        />
      </SimpleGrid>
      <VersionInput form={form} {...version} />
    </>
  );
}

/**
 * Suggests the version in the file name, or the one after the highest of that platform and channel; the user may type
 * another.
 */
function VersionInput({ form, known, version, nameVersion, hold }: Props) {
  const { channel } = form.values;
  const differs = nameVersion !== undefined && version !== '' && !isVersionOf(version, nameVersion);
  return (
    <div>
      <Group gap="xs" align="flex-start" className={classes.version}>
        <TextInput
          label="Version"
          required
          classNames={{ input: 'mono' }}
          spellCheck={false}
          value={version}
          error={form.errors['version']}
          {...hold}
          onChange={(event) => form.setValues({ bump: null, version: event.currentTarget.value })}
        />
        {known && known.existing.length > 0 && (
          <div role="group" aria-label="Next version">
            <div className={classes.bumpLabel} aria-hidden>
              Next version
            </div>
            <Group gap={4}>
              {bumps.map((bump) => {
                const next = nextVersion(known.existing, channel, bump, known.deleted);
                return (
                  <Button
                    key={bump}
                    variant={version === next ? 'light' : 'default'}
                    aria-pressed={version === next}
                    px={9}
                    fw={500}
                    onClick={() => form.setValues({ bump, version: next })}
                  >
                    {bump} {next}
                  </Button>
                );
              })}
            </Group>
          </div>
        )}
      </Group>
      <div role="status">
        {differs && (
          <Text size="xs" mt={6} c="var(--ui-amber-text)">
            The file name says {nameVersion}.{' '}
            <Anchor
              component="button"
              type="button"
              inherit
              onClick={() => form.setValues({ bump: null, version: nameVersion })}
            >
              Use {nameVersion}
            </Anchor>
          </Text>
        )}
      </div>
    </div>
  );
}
