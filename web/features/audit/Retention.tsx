import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { audit, longestRetentionDays } from '../../../contract/audit.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { messageOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { CancelButton, Dialog, useUnsaved } from '../../ui/Dialog.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import type { TypedNumber } from '../../ui/typed-number.ts';
import { useChange } from '../../use-change.ts';
import { auditConfigQuery, cleanUp, setRetention } from './audit-calls.ts';

type Config = RouteAnswer<typeof audit.config>;

/** How long entries are kept, and the clean-up by it. */
export default function Retention({ onClose }: { onClose: () => void }) {
  const config = useQuery(auditConfigQuery);
  return (
    <Dialog title="Retention" onClose={onClose}>
      {config.isLoadingError ? (
        <ErrorState
          title="The setting could not be loaded"
          message={messageOf(config.error)}
          onRetry={() => void config.refetch()}
        />
      ) : !config.data ? (
        <FormSkeleton heights={[60]} />
      ) : (
        <RetentionForm config={config.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

function RetentionForm({ config, onClose }: { config: Config; onClose: () => void }) {
  const { hasPermission } = useAuth();
  const [days, setDays] = useState<TypedNumber>(config.retentionDays);
  useUnsaved(() => days !== config.retentionDays);
  const save = useChange({
    mutationFn: setRetention,
    onSuccess: ({ retentionDays }) => {
      void toast({ message: `Audit entries are kept for ${retentionDays} days` });
      onClose();
    },
  });
  const clean = useChange({
    mutationFn: cleanUp,
    onSuccess: ({ removed }) => {
      void toast({
        message:
          removed === 0 ? 'Nothing is older than that' : `${removed.toLocaleString('en')} entries removed`,
      });
      onClose();
    },
  });
  const [isLeft, setIsLeft] = useState(false);
  const problem = audit.setConfig.body.shape.value.safeParse(days).error?.issues[0]?.message;
  const error = save.error ?? clean.error;
  return (
    <form
      ref={focusLate}
      onSubmit={(event) => {
        event.preventDefault();
        setIsLeft(true);
        if (!problem && typeof days === 'number') save.mutate(days);
      }}
    >
      <Stack gap="md">
        <NumberField
          label="Keep entries for (days)"
          description="Older entries are removed once a day. A signed anchor stays in their place, so that the rest can still be verified."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          data-autofocus
          min={config.shortestRetentionDays}
          max={longestRetentionDays}
          value={days}
          onChange={(typed) => {
            setDays(typed);
            setIsLeft(false);
          }}
          onBlur={() => setIsLeft(true)}
          error={isLeft && problem}
        />
        {hasPermission('audit', 'delete') && (
          <Text size="xs" c="dimmed">
            Remove what is older than {config.retentionDays} days{' '}
            <Button
              variant="default"
              size="compact-xs"
              ml={4}
              loading={clean.isPending}
              onClick={() => clean.mutate()}
            >
              Clean up now
            </Button>
          </Text>
        )}
        {error && <ErrorText>{messageOf(error)}</ErrorText>}
        <Group justify="flex-end" gap="xs">
          <CancelButton onCancel={onClose} />
          <Button type="submit" loading={save.isPending} disabled={days === config.retentionDays}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
