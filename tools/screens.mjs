// Photographs every screen and dialog of the demo company, in light and dark and four widths, into `screens/`, and writes
// a contact sheet of them. Arguments are passed on to Playwright, such as `-g licenses` for some of them. With `--docs`,
// the pictures of the documentation are updated as well.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from './find-chromium.mjs';
import { installed, root, run } from './process.mjs';

const folder = join(root, 'screens');
const inDocs = ['licenses', 'customer', 'release'];
const shot = /^(.+)-(\d+)-(light|dark)\.png$/;

function contactSheet() {
  const shots = readdirSync(folder).filter((file) => shot.test(file));
  const nameOf = (file) => shot.exec(file)[1];
  const widthOf = (file) => Number(shot.exec(file)[2]);
  const sections = [...new Set(shots.map(nameOf))].map((screen) => {
    const pictures = shots
      .filter((file) => nameOf(file) === screen)
      .toSorted((a, b) => widthOf(a) - widthOf(b))
      .map((file) => `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a>`);
    return `<h2>${screen}</h2>\n<p>${pictures.join('\n')}</p>`;
  });
  const style =
    'body{font:14px sans-serif;background:#888}img{height:260px;margin:4px;border:1px solid #444}';
  return `<!doctype html><meta charset="utf-8"><title>Screens</title><style>${style}</style>\n${sections.join('\n')}\n`;
}

const chromium = await findChromium();
if (!chromium) process.exit(1);
mkdirSync(folder, { recursive: true });
const options = process.argv.slice(2).filter((one) => one !== '--docs');
const { ok } = await run(
  [
    ...installed('@playwright/test', 'playwright'),
    'test',
    'screenshots.e2e.ts',
    '--workers=1',
    '--reporter=line',
    ...options,
  ],
  { env: { CHROMIUM_PATH: chromium, SCREENS_FOLDER: folder } },
);
writeFileSync(join(folder, 'index.html'), contactSheet());
if (ok && process.argv.includes('--docs'))
  for (const name of inDocs)
    copyFileSync(join(folder, `${name}-1024-light.png`), join(root, 'docs/images', `${name}.png`));
console.log(`The contact sheet is ${join(folder, 'index.html')}`);
process.exitCode = ok ? 0 : 1;
