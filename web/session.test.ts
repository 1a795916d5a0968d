import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';

stubBrowser();
const { useAuth } = await import('./session.tsx');

function Stray() {
  return useAuth().user?.name;
}

test('asking who is signed in outside the provider is a mistake that is named', () => {
  expect(() => renderToString(createElement(Stray))).toThrow('useAuth must be used within an AuthProvider');
});
