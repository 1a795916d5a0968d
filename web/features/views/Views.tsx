import { Button } from '@mantine/core';
import { Suspense, useState } from 'react';
import { IconBookmark } from '../../ui/icons.tsx';
import { Late } from '../../ui/Late.tsx';
import type { ViewedList } from './use-current-view.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const ViewMenu = lazyPart(() => import('./ViewMenu.tsx'));
const OpenView = lazyPart(() => import('./OpenView.tsx'));

/** The menu of saved views, loaded after the list itself. */
export const Views = (viewed: ViewedList) => (
  <Late
    look={
      <Button variant="default" px={8}>
        <IconBookmark />
      </Button>
    }
  >
    <ViewMenu {...viewed} />
  </Late>
);

/** The open view beside the filters that are set; nothing without one. */
export const openViewOf = (viewed: ViewedList) => viewed.search.view && <Opened {...viewed} />;

/** Knows what it was opened with before the script of the view has come: the filters may be others by then. */
function Opened(viewed: ViewedList) {
  const [openedWith] = useState(viewed.search);
  return (
    <Suspense>
      <OpenView {...viewed} openedWith={openedWith} />
    </Suspense>
  );
}
