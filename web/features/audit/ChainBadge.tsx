import { Box, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ChainState } from '../../../contract/audit.ts';
import { StatusBadge, type Tone } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { chainQuery } from './queries.ts';
import { Break } from './Break.tsx';
import { countText } from '../../ui/numbers.ts';

const shown: Record<ChainState['state'], { tone: Tone; label: string }> = {
  whole: { tone: 'teal', label: 'Chain whole' },
  broken: { tone: 'red', label: 'Chain broken' },
  checking: { tone: 'neutral', label: 'Checking the chain' },
};

/** Shows all the time whether the chain is intact; a click shows the details. */
export function ChainBadge({ onOpen }: { onOpen: (entry: string) => void }) {
  const { data, isError } = useQuery(chainQuery);
  if (isError) return <StatusBadge tone="amber">Chain not known</StatusBadge>;
  if (!data) return <Place />;
  const { tone, label } = shown[data.state];
  return (
    <Popover width={360} position="bottom-end" shadow="md" radius={8} trapFocus>
      <Popover.Target>
        <UnstyledButton mr="xs" aria-haspopup="dialog">
          <StatusBadge tone={tone}>{label}</StatusBadge>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="State of the chain">
        <Stack gap={8} tabIndex={-1} data-autofocus>
          {data.broken && <Break broken={data.broken} onOpen={onOpen} />}
          <ChainFacts state={data} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Reserves the space of the badge: otherwise the buttons next to it wrap on a phone when it appears. */
function Place() {
  return (
    <Box mr="xs" style={{ visibility: 'hidden' }} aria-hidden>
      <StatusBadge tone="neutral">{shown.whole.label}</StatusBadge>
    </Box>
  );
}

function ChainFacts({ state }: { state: ChainState }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      {state.checkedAt && <div>End of the chain checked: {momentText(state.checkedAt)}</div>}
      <div>
        {state.wholeAt
          ? `All entries found whole: ${momentText(state.wholeAt)}`
          : 'The first check of all entries is under way.'}
      </div>
      {state.kept.map(({ place, sequence, at, error }) => (
        <div key={place}>
          {at
            ? `Entry ${countText(sequence)} kept in ${place}: ${momentText(at)}`
            : `Nothing kept in ${place} yet`}
          {error && ` (failed since: ${error})`}
        </div>
      ))}
    </Text>
  );
}
