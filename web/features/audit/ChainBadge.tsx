import { Box, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ChainState } from '../../../contract/audit.ts';
import { StatusBadge, type Tone } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { chainQuery } from './queries.ts';
import { Break } from './Break.tsx';
import { Chain } from './Chain.tsx';
import { countText } from '../../ui/numbers.ts';

const shown: Record<ChainState['state'] | 'unknown', { tone: Tone; label: string }> = {
  whole: { tone: 'teal', label: 'Chain whole' },
  broken: { tone: 'red', label: 'Chain broken' },
  checking: { tone: 'neutral', label: 'Checking the chain' },
  unknown: { tone: 'amber', label: 'Chain not known' },
};

/** Shows all the time whether the chain is intact; a click shows the details. */
export function ChainBadge({ onOpen }: { onOpen: (entry: string) => void }) {
  const { data, isError } = useQuery(chainQuery);
  if (isError) return <ChainWord state="unknown" />;
  if (!data) return <Place />;
  return (
    <Popover width={360} position="bottom-end" shadow="md" radius={8} trapFocus>
      <Popover.Target>
        <UnstyledButton mr="xs" aria-haspopup="dialog">
          <ChainWord state={data.state} />
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

function ChainWord({ state }: { state: keyof typeof shown }) {
  const { tone, label } = shown[state];
  return (
    <StatusBadge tone={tone}>
      <Chain state={state} height={9} />
      {label}
    </StatusBadge>
  );
}

/** Reserves the space of the badge: otherwise the buttons next to it wrap on a phone when it appears. */
function Place() {
  return (
    <Box mr="xs" style={{ visibility: 'hidden' }} aria-hidden>
      <ChainWord state="whole" />
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
