import { Checkbox, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { useAuth } from '../../session.tsx';

/** The API keys that a user created, with checkboxes to revoke them where permitted. */
export function KeysToRevoke(props: {
  keys: UseQueryResult<ApiKey[]>;
  chosen: readonly string[];
  onChoose: (ids: string[]) => void;
}) {
  const { can } = useAuth();
  const { keys } = props;
  if (keys.isLoadingError) return <Text>The API keys of this user could not be loaded.</Text>;
  if (!keys.data || keys.data.length === 0) return null;
  if (!can.deleteApiKeys)
    return (
      <div>
        <Text fw={500}>API keys of this user</Text>
        <ul style={{ ...listStyle, paddingInlineStart: 18 }}>
          {keys.data.map((key) => (
            <li key={key.id}>{nameOf(key)}</li>
          ))}
        </ul>
      </div>
    );
  return (
    <Checkbox.Group
      label="Revoke API keys of this user"
      description="Programs that use a revoked key are refused immediately and permanently."
      value={[...props.chosen]}
      onChange={props.onChoose}
    >
      <Stack gap={8} mt={8} style={listStyle}>
        {keys.data.map((key) => (
          <Checkbox key={key.id} value={key.id} label={nameOf(key)} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

/** Scrolls, so that many keys do not push the buttons out of view. */
const listStyle = { maxHeight: 200, margin: 0, overflow: 'auto', overflowWrap: 'anywhere' } as const;

const nameOf = ({ name, keyPrefix }: ApiKey) => `${name} (${keyPrefix})`;
