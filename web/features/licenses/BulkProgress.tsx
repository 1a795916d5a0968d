import { Button, Group, Progress, Text } from '@mantine/core';
import { countText } from '../../ui/numbers.ts';

/** How far a bulk change is; Stop lets what has begun finish. */
export function BulkProgress(props: { finished: number; total: number; onStop: () => void }) {
  const { finished, total, onStop } = props;
  return (
    <>
      <Progress value={(finished / total) * 100} aria-label="Progress" transitionDuration={120} />
      <Group justify="space-between">
        <Text c="dimmed" role="status" tabIndex={-1} data-autofocus>
          {countText(finished)} of {countText(total)}
        </Text>
        <Button variant="default" onClick={onStop}>
          Stop
        </Button>
      </Group>
    </>
  );
}
