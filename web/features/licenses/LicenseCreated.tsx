import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { License } from '../../../contract/licenses.ts';
import { dayText } from './license-term.ts';
import { typeBadges } from './license-words.ts';
import classes from './licenses.module.css';

/** How long 'Copied!' stays (spec part 2, section 9). */
const copiedFor = 2000;

/** The key of a license that was just made: sending it is what comes next. */
export function LicenseCreated(props: { license: License; onAnother: () => void; onDone: () => void }) {
  const { license } = props;
  return (
    <Stack gap="md">
      <Text role="status">
        License created for {license.customer?.name}: {typeBadges[license.type].word}, valid until{' '}
        {dayText(license.validUntil)}. Send this key to the customer:
      </Text>
      <div className={classes.keyBox}>
        <span className="mono">{license.licenseKey}</span>
      </div>
      <Group justify="flex-end" gap="xs">
        <Button variant="subtle" onClick={props.onAnother}>
          Create another
        </Button>
        <Button variant="default" onClick={props.onDone}>
          Done
        </Button>
        <CopyButton value={license.licenseKey} timeout={copiedFor}>
          {({ copied, copy }) => (
            <>
              <Button
                autoFocus
                onClick={copy}
                leftSection={
                  copied ? <IconCheck size={15} stroke={1.75} /> : <IconCopy size={15} stroke={1.75} />
                }
              >
                {copied ? 'Copied!' : 'Copy key'}
              </Button>
              <span role="status" className="visually-hidden">
                {copied && 'Copied!'}
              </span>
            </>
          )}
        </CopyButton>
      </Group>
    </Stack>
  );
}
