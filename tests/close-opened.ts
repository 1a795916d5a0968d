import { afterAll, beforeEach } from 'vitest';
import { closeOpened, opened } from './opened.ts';

beforeEach(() => {
  // open for all tests of the file
  const ofFile = new Set(opened);
  return () => closeOpened(ofFile);
});
afterAll(() => closeOpened());
