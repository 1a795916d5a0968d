import type { ComponentProps } from 'react';
import { useWithOwnChanges } from '../../shell/use-own-changes.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const Loaded = lazyPart(() => import('./ListDialogs.tsx'));

/** The dialogs that the actions of licenses open; a change may be answered while their code still loads. */
export function ListDialogs(props: ComponentProps<typeof Loaded>) {
  const asked = useWithOwnChanges(props.asked);
  return (
    <LazyDialogs>
      <Loaded {...props} asked={asked} />
    </LazyDialogs>
  );
}
