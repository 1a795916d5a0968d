import { Button, Group, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { counted } from '../../ui/counted.ts';
import { sentenceOf } from '../../api-error.ts';
import { useKept } from '../../kept-work.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import classes from './account.module.css';
import { secondFactorQuery } from './queries.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const SetUpSecondFactor = lazyPart(() => import('./SetUpSecondFactor.tsx'));
const RemoveSecondFactor = lazyPart(() => import('./RemoveSecondFactor.tsx'));

/** Shows whether there is a second factor, with buttons to set it up or remove it. */
export function SecondFactor() {
  const factor = useQuery(secondFactorQuery);
  const [dialog, setDialog] = useKept<'set up' | 'remove'>('open: second factor');
  const close = () => setDialog(undefined);
  if (factor.isLoadingError) {
    return <ErrorText>{sentenceOf(factor.error, 'Failed to fetch the second factor')}</ErrorText>;
  }
  if (!factor.data)
    return <Skeleton className={classes.factor} radius={4} role="group" aria-busy aria-label="Loading" />;
  const { active, recoveryCodesLeft, requiredBy } = factor.data;
  return (
    <>
      <Group gap="sm">
        <StatusBadge tone={active ? 'teal' : requiredBy ? 'red' : 'neutral'}>
          {active ? 'Set up' : requiredBy ? 'Missing' : 'Not set up'}
        </StatusBadge>
        <Text style={{ flex: '1 1 260px' }}>
          {active
            ? `${counted(recoveryCodesLeft, 'recovery code')} left, for when the app is not available.`
            : requiredBy
              ? 'Your role requires a second factor. Nothing is permitted until you have set one up.'
              : 'You sign in with your password alone.'}
        </Text>
        {active ? (
          <DisabledReason reason={requiredBy && `The role ${requiredBy} requires a second factor.`}>
            <Button variant="default" onClick={() => setDialog('remove')}>
              Remove
            </Button>
          </DisabledReason>
        ) : (
          <Button onClick={() => setDialog('set up')}>Set Up</Button>
        )}
      </Group>
      <LazyDialogs>
        {dialog === 'set up' && <SetUpSecondFactor onClose={close} />}
        {dialog === 'remove' && <RemoveSecondFactor onClose={close} />}
      </LazyDialogs>
    </>
  );
}
