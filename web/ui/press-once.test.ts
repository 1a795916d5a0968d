import type { KeyboardEvent, MouseEvent } from 'react';
import { expect, test, vi } from 'vitest';
import { pressOnce } from './press-once.ts';

const button = {} as Element;
const press = (of: ReturnType<typeof pressOnce>, key: string) =>
  of.onKeyDown({ key, repeat: false, currentTarget: button } as KeyboardEvent);
/** By a key, or by a screen reader, which presses no key. */
const click = (of: ReturnType<typeof pressOnce>) =>
  of.onClick({ detail: 0, currentTarget: button } as MouseEvent);

test('a button does what it stood for when Enter or the space bar was pressed, and not when Tab was', () => {
  const done: string[] = [];
  const [before, after] = ['before', 'after'].map((name) => pressOnce(() => done.push(name)));
  for (const key of ['Enter', ' ', 'Tab']) {
    press(before!, key);
    click(after!);
  }
  expect(done).toEqual(['before', 'before', 'after']);
});

test('a held key presses no button again, and a held Tab goes on', () => {
  const preventDefault = vi.fn();
  const held = pressOnce(() => undefined);
  held.onKeyDown({ key: 'Tab', repeat: true, preventDefault } as unknown as KeyboardEvent);
  expect(preventDefault).not.toHaveBeenCalled();
  held.onKeyDown({ key: 'Enter', repeat: true, preventDefault } as unknown as KeyboardEvent);
  expect(preventDefault).toHaveBeenCalledOnce();
});
