import { afterAll } from 'vitest';
import { opened } from './opened.ts';

afterAll(async () => {
  for (const server of [...opened].toReversed()) await server.close();
});
