import { Button, Group, Stack, Text } from '@mantine/core';
import type { License } from '../../../contract/licenses.ts';
import { LicenseLink } from '../../shell/RecordLink.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { typeBadges } from './license-labels.ts';
import classes from './licenses.module.css';
import { utcDate } from '../../ui/time.ts';

/** The key of a new license, ready to copy. */
export function LicenseCreated(props: { license: License; onAnother: () => void; onDone: () => void }) {
  const { license } = props;
  return (
    <Stack gap="md">
      <Text role="status">
        License created for {license.customer?.name}: {typeBadges[license.type].word}, valid until{' '}
        {utcDate(license.validUntil)}. Send this key to the customer:
      </Text>
      <div className={classes.keyBox}>
        <LicenseLink {...license} />
      </div>
      <Group justify="flex-end" gap="xs">
        <Button variant="subtle" onClick={props.onAnother}>
          Create Another
        </Button>
        <Button variant="default" onClick={props.onDone}>
          Done
        </Button>
        <CopyButton value={license.licenseKey}>
          {({ copied, copy, icon }) => (
            <Button autoFocus onClick={copy} leftSection={icon}>
              {copied ? 'Copied!' : 'Copy Key'}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Stack>
  );
}
