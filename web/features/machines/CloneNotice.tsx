import { Alert, Text } from '@mantine/core';
import { classNames } from '../../ui/class-names.ts';
import { IconAlertTriangle } from '../../ui/icons.tsx';
import { momentText } from '../../ui/time.ts';
import { LicenseLink } from '../../shell/RecordLink.tsx';
import classes from './machines.module.css';
import type { MachineActivation } from './queries.ts';

/** The licenses whose machine token two machines use at once. Neither is locked out: staff decide. */
export function CloneNotice({ activations }: { activations: MachineActivation[] }) {
  const cloned = activations.flatMap(({ clonedAt, ...one }) => (clonedAt ? [{ ...one, clonedAt }] : []));
  if (cloned.length === 0) return null;
  return (
    <Alert
      role="note"
      aria-live="polite"
      color="yellow"
      variant="light"
      title="Seen on two machines at once"
      icon={<IconAlertTriangle size={18} stroke={2} />}
      classNames={classNames({ root: classes.clone, title: classes.cloneText, icon: classes.cloneText })}
    >
      <Text>
        One of them may be a copy of the other, such as a copied virtual machine. Neither is locked out: ask
        the customer which of them is meant to run.
      </Text>
      <ul className={classes.cloned}>
        {cloned.map((one) => (
          <li key={one.activationId}>
            Since {momentText(one.clonedAt)} on license <LicenseLink {...one} />
          </li>
        ))}
      </ul>
    </Alert>
  );
}
