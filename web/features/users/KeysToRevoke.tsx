import { Checkbox, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { useAuth } from '../../session.tsx';
import { useNow } from '../../ui/use-now.ts';

/**
 * The API keys that a user created, with checkboxes to revoke them where permitted. After signing in again, those that were
 * chosen before stay in sight until all are loaded.
 */
export function KeysToRevoke(props: {
  keys: UseQueryResult<ApiKey[]>;
  chosen: readonly ApiKey[];
  onChoose: (keys: ApiKey[]) => void;
}) {
  const { can } = useAuth();
  const now = useNow();
  const { keys, chosen } = props;
  const [chosenBefore] = useState(chosen);
  const listed = keys.data ?? chosenBefore;
  return (
    <>
      {listed.length === 0 ? null : can.deleteApiKeys ? (
        <Checkbox.Group
          label="Revoke API keys of this user"
          description="Programs that use a revoked key are refused immediately and permanently."
          value={chosen.map(({ id }) => id)}
          onChange={(ids) => props.onChoose(listed.filter(({ id }) => ids.includes(id)))}
        >
          <Stack gap={8} mt={8} className="short-list">
            {listed.map((key) => (
              <Checkbox key={key.id} value={key.id} label={nameOf(key, now)} />
            ))}
          </Stack>
        </Checkbox.Group>
      ) : (
        <div>
          <Text fw={500}>API keys of this user</Text>
          <ul className="short-list" style={{ margin: 0, paddingInlineStart: 18 }}>
            {listed.map((key) => (
              <li key={key.id}>{nameOf(key, now)}</li>
            ))}
          </ul>
        </div>
      )}
      {keys.isLoadingError && <Text>The API keys of this user could not be loaded.</Text>}
    </>
  );
}

function nameOf({ name, keyPrefix, isActive, expiresAt }: ApiKey, now: Date): string {
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
  const stopped = isOver ? ', expired' : isActive ? '' : ', inactive';
  return `${name} (${keyPrefix}${stopped})`;
}
