import { releases, type Release } from '../../contract/releases.ts';
import { planOf } from '../plan-of.ts';
import { makeRelease } from './releases.ts';
import { box, editing, press, stored, unfoldRollout } from './releases-screen.ts';
import { expect, expectStatus, goTo, signInAs, test } from './support.ts';

const steps = planOf([5, 24], [100]);

test('two edits together reach no more machines than one of the two saw', async ({ page, server }) => {
  expectStatus(page, 409);
  await signInAs(page, 'binary_manager', '/releases', server);
  const open = (release: Release) => goTo(page, `/releases?edit=${release.id}`);
  const edit = (
    release: Release,
    body: Partial<Pick<Release, 'isActive' | 'releaseNotes' | 'rolloutPlan'>>,
  ) => server.admin.ok(releases.update, { params: { releaseId: release.id }, body });

  // which other two edits are asked about, release-form.test.ts says
  await test.step('active again, of what a colleague rolls out in steps', async () => {
    const release = await makeRelease(server, { channel: 'alpha' }, { rolloutPercentage: 5 });
    await edit(release, { isActive: false });
    await open(release);
    await box(page, 'Active').check();
    await edit(release, { rolloutPlan: steps });
    const question = page.getByRole('dialog', { name: /^(Offer to More Users|Publish Release)$/ });
    const confirm = question.getByRole('button', { name: /^(Offer|Publish)$/ });
    // who does not want it keeps the form, and is asked again
    for (const answer of [question.getByRole('button', { name: 'Cancel' }), confirm]) {
      await press(page, 'Save Changes');
      await expect(question).toContainText('(alpha) for Windows (x64) to 5 % of users?');
      await confirm.click();
      await expect(question).toContainText('It goes on by itself, in steps: 5 % for 24 h, 100 %.');
      expect(await stored(server, release)).toMatchObject({ isActive: false, rolloutPlan: steps });
      await answer.click();
    }
    await expect(editing(page)).toBeHidden();
    const saved = { isActive: true, rolloutPercentage: 5, rolloutPlan: steps };
    expect(await stored(server, release)).toMatchObject(saved);
  });

  await test.step('what a colleague saves between the two calls of an edit stays', async () => {
    const release = await makeRelease(server, { channel: 'alpha' }, { rolloutPercentage: 5 });
    await open(release);
    await unfoldRollout(page);
    await press(page, '25 %');
    let isFirst = true;
    await page.route(`**${releases.rollout.path.replace('{releaseId}', release.id)}`, async (route) => {
      if (isFirst) await edit(release, { releaseNotes: 'Corrected' });
      isFirst = false;
      await route.continue();
    });
    await press(page, 'Save Changes');
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 25, releaseNotes: 'Corrected' });
  });
});
