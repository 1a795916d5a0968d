import { expect, test } from 'vitest';
import { actorText } from './actor-text.ts';

test('whoever an entry does not name is a machine, or a person who is not signed in', () => {
  expect(actorText(null, 'session.login_failed')).toBe('Not signed in');
  expect(actorText(null, 'activation.enrolled')).toBe('Machine');
  expect(actorText('a@b.c', 'activation.deactivated')).toBe('a@b.c');
});
