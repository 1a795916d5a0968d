import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { createContext, use, type MouseEventHandler, type ReactNode } from 'react';

/** Whether the reader may see the screen at a path, or at that of a route. */
export const MayFollow = createContext<(path: string) => boolean>(() => true);

export type Place = {
  to: string;
  search?: Record<string, string | undefined> | undefined;
  params?: Record<string, string>;
};

/** A link to a screen; `instead`: what stands there for a reader who may not see that, else nothing. */
export function ScreenLink(
  props: AnchorProps &
    Place & {
      title?: string | undefined;
      onClick?: MouseEventHandler;
      instead?: ReactNode;
      children: ReactNode;
    },
) {
  const { instead, ...link } = props;
  return use(MayFollow)(link.to) ? <Anchor component={Link} {...(link as object)} /> : instead;
}

/** A button that opens a screen; nothing for a reader who may not see that. */
export function ScreenButton(props: ButtonProps & Place & { children: ReactNode }) {
  return use(MayFollow)(props.to) && <Button component={Link} variant="default" {...(props as object)} />;
}
