import { expect, test } from 'vitest';
import { mostEvents, updateEvents } from '../../contract/update-events.ts';
import { makeApiKey } from '../../tests/factories.ts';
import { numbers, startTestServer } from '../../tests/harness.ts';

const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));

test('an error names the first 100 fields that are wrong, and counts the others', async () => {
  const desktop = server.api(await makeApiKey(staff, { scopes: ['updates'] }));
  const unknown = Object.fromEntries(numbers(20).map((n) => [`unknown${n}`, 0]));
  const { status, body } = await desktop.call(updateEvents.report, {
    body: { events: numbers(mostEvents).map(() => unknown as never) },
  });
  expect(status).toBe(400);
  // of each event also the id and the type, which are missing
  const wrong = mostEvents * 22;
  expect(body.error).toBe(`events.0.eventId: Event ID is required (and ${wrong - 1} more)`);
  expect(body.details).toHaveLength(100);
  expect(body.details[0]).toEqual({ path: 'events.0.eventId', message: 'Event ID is required' });
  expect(body.details[99]!.path).toBe('events.4.unknown9');
});
