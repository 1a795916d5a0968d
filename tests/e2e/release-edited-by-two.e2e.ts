import { releases, type Release } from '../../contract/releases.ts';
import { planOf } from '../plan-of.ts';
import { makeRelease } from './releases.ts';
import { box, editing, press, stored, unfoldRollout } from './releases-screen.ts';
import { expect, expectStatus, goTo, signInAs, test, type ConsoleServer, type Page } from './support.ts';

const choose = (share: string) => async (page: Page) => {
  await unfoldRollout(page);
  await press(page, share);
};
const everyone = choose('Everyone');
const steps = planOf([5, 24], [100]);

const at = ({ id }: Release) => ({ params: { releaseId: id } });
const update =
  (body: Partial<Pick<Release, 'channel' | 'isDraft' | 'rolloutPercentage' | 'rolloutPlan' | 'security'>>) =>
  (server: ConsoleServer, r: Release) =>
    server.admin.ok(releases.update, { ...at(r), body });
const resume = (server: ConsoleServer, r: Release) => server.admin.ok(releases.resume, at(r));
const pause = (server: ConsoleServer, r: Release) =>
  server.admin.ok(releases.pause, { ...at(r), body: { reason: 'A hospital reports crashes' } });
const deactivate = (server: ConsoleServer, r: Release) =>
  server.admin.ok(releases.update, { ...at(r), body: { isActive: false } });

type Case = {
  name: string;
  release: Parameters<typeof makeRelease>[2];
  before?: (server: ConsoleServer, release: Release) => Promise<unknown>;
  /** What this user confirms without the edit of the colleague. */
  confirms?: string;
  edit: (page: Page) => Promise<unknown>;
  colleague: (server: ConsoleServer, release: Release) => Promise<unknown>;
  asked: string;
  /** What is stored until this user has confirmed it, and then. */
  unconfirmed: Partial<Release>;
  afterwards: Partial<Release>;
};

// Which other two edits are asked about, release-form.test.ts says.
const cases: Case[] = [
  {
    name: 'everyone, of what a colleague resumes',
    release: { rolloutPercentage: 5 },
    before: pause,
    edit: everyone,
    colleague: resume,
    asked: '(alpha) for Windows (x64) to all users at once?',
    unconfirmed: { rolloutPercentage: 5, pausedAt: null },
    afterwards: { rolloutPercentage: 100, pausedAt: null },
  },
  {
    name: 'active again, of what a colleague rolls out in steps',
    release: { rolloutPercentage: 5 },
    before: deactivate,
    edit: (page) => box(page, 'Active').check(),
    confirms: '(alpha) for Windows (x64) to 5 % of users?',
    colleague: update({ rolloutPlan: steps }),
    asked: 'It goes on by itself, in steps: 5 % for 24 h, 100 %.',
    unconfirmed: { isActive: false, rolloutPlan: steps },
    afterwards: { isActive: true, rolloutPercentage: 5, rolloutPlan: steps },
  },
  {
    name: 'a security update, of a draft that a colleague publishes',
    release: { isDraft: true },
    edit: (page) => box(page, 'Security Update').check(),
    colleague: update({ isDraft: false, rolloutPercentage: 5 }),
    asked: 'It is a security update, which update policies do not hold back.',
    unconfirmed: { security: false, isDraft: false },
    afterwards: { security: true, isDraft: false, rolloutPercentage: 5 },
  },
];

test('two edits together reach no more machines than one of the two saw', async ({ page, server }) => {
  expectStatus(page, 409);
  await signInAs(page, 'binary_manager', '/releases', server);
  const open = (release: Release) => goTo(page, `/releases?edit=${release.id}`);
  const question = page.getByRole('dialog', { name: /^(Offer to More Users|Publish Release)$/ });
  const confirm = question.getByRole('button', { name: /^(Offer|Publish)$/ });

  for (const one of cases)
    await test.step(one.name, async () => {
      const { confirms, asked, unconfirmed } = one;
      const release = await makeRelease(server, { channel: 'alpha' }, one.release);
      await one.before?.(server, release);
      await open(release);
      await one.edit(page);
      await one.colleague(server, release);
      await press(page, 'Save Changes');
      if (confirms) {
        await expect(question).toContainText(confirms);
        await confirm.click();
      }
      await expect(question).toContainText(asked);
      expect(await stored(server, release)).toMatchObject(unconfirmed);
      // who does not want it keeps the form, and is asked again
      await question.getByRole('button', { name: 'Cancel' }).click();
      await press(page, 'Save Changes');
      if (confirms) await confirm.click();
      await expect(question).toContainText(asked);
      expect(await stored(server, release)).toMatchObject(unconfirmed);
      await confirm.click();
      await expect(editing(page)).toBeHidden();
      expect(await stored(server, release)).toMatchObject(one.afterwards);
    });

  await test.step('what a colleague saves between the two calls of an edit stays', async () => {
    const release = await makeRelease(server, { channel: 'alpha' }, { rolloutPercentage: 5 });
    await open(release);
    await choose('25 %')(page);
    let isFirst = true;
    await page.route(`**${releases.rollout.path.replace('{releaseId}', release.id)}`, async (route) => {
      if (isFirst)
        await server.admin.ok(releases.update, { ...at(release), body: { releaseNotes: 'Corrected' } });
      isFirst = false;
      await route.continue();
    });
    await press(page, 'Save Changes');
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 25, releaseNotes: 'Corrected' });
  });
});
