import { lazy, Suspense, useState } from 'react';
import { useStore } from '../ui/store.ts';
import { registeredTrays, type Tray } from './tray.ts';

/** The place for the trays of features, on every screen. */
export function Trays() {
  return registeredTrays().map((tray, index) => <TraySlot key={index} tray={tray} />);
}

function TraySlot({ tray }: { tray: Tray }) {
  const wanted = useStore(tray.wanted);
  const [Content] = useState(() => lazy(tray.load));
  return <Suspense>{wanted && <Content />}</Suspense>;
}
