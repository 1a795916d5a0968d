import { expect, test } from 'vitest';
import { releases, type Release } from '../../../contract/releases.ts';
import { program } from '../../../tests/binaries.ts';
import { hours, auditOf, startTestServer } from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { nextVersion, uploader } from '../../../tests/uploading.ts';
import { planOf } from '../../../tests/plan-of.ts';

const server = await startTestServer();
const manager = await server.signInAs('binary_manager');
const api = server.api(manager);
const up = uploader(server.url, api, manager);

const rolloutPlan = planOf([2, 24], [100]);
const startsAt = new Date(server.clock.now().getTime() + hours(5)).toISOString();
const started = { isDraft: false, rolloutPercentage: 2, rolloutPlan, stepTaken: 0, fullAt: null };
const waiting = { isDraft: false, rolloutPercentage: 0, rolloutPlan, startsAt, stepTaken: null };
const stored = ({ id }: Release) => api.ok(releases.get, { params: { releaseId: id } });

test('a release is published with a plan in one request', async () => {
  const sent = (fields: Record<string, string>) =>
    up.direct({ file: program(1000), version: nextVersion(), is_draft: 'false', ...fields });
  const now = await sent({ rollout_plan: JSON.stringify(rolloutPlan) });
  expect(now.status, now.text).toBe(201);
  expect(await stored(now.body.data)).toMatchObject(started);
  expect((await auditOf(server, now.body.data.id))[0]!.changes_summary).toContain(
    'created with the plan 2 % for 24 h, 100 %',
  );
  const later = await sent({ rollout_plan: JSON.stringify(rolloutPlan), starts_at: startsAt });
  expect(await stored(later.body.data)).toMatchObject(waiting);
  const none = await sent({ rollout_plan: '', starts_at: '' });
  expect(none.body.data).toMatchObject({ rolloutPercentage: 100, rolloutPlan: null });
});

test('and with one after its chunks; a draft keeps its plan until it is published', async () => {
  const bytes = program(1000);
  const complete = async (fields: object) => {
    const version = nextVersion();
    await up.prepare(bytes);
    const prepared = await up.prepare(bytes, { version });
    await up.sendAll(bytes, prepared);
    const others = await othersIn(server, 'uploads', 'upload_id', prepared.uploadId);
    const answer = await up.complete(bytes, prepared, { version, ...fields });
    expect(await othersIn(server, 'uploads', 'upload_id', prepared.uploadId)).toEqual(others);
    return answer;
  };
  const made = await complete({ isDraft: false, isMandatory: true, rolloutPlan, startsAt });
  expect(await stored(made.body.data)).toMatchObject({ ...waiting, isMandatory: true });
  const draft = (await complete({ rolloutPlan })).body.data;
  expect(draft).toMatchObject({ isDraft: true, rolloutPlan, stepTaken: null });
  await up.publish(draft.id);
  expect(await stored(draft)).toMatchObject(started);
});

test.each([
  [{ rollout_plan: '[' }, 'rollout_plan: Must be JSON'],
  [{ rollout_plan: '[]' }, 'rollout_plan: A plan needs at least one step'],
  [
    { rollout_plan: '[{"percentage":200,"hours":null}]' },
    'rollout_plan.0.percentage: Must be a whole number from 1 to 100',
  ],
  [
    { rollout_plan: '[{"percentage":5,"hours":null}]', rollout_percentage: '20' },
    'rollout_plan: Give a percentage or a plan, not both',
  ],
  [{ starts_at: startsAt }, 'starts_at: A start needs a rollout in steps'],
  [{ starts_at: 'soon', rollout_plan: '[{"percentage":5,"hours":null}]' }, /^starts_at: Must be an ISO 8601/],
])('%j is refused', async (fields, error) => {
  const answer = await up.direct({ file: program(1000), version: nextVersion(), ...fields });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.error).toMatch(error);
});
