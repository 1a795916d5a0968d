// Runs every check and test, whatever fails, and ends with one line that counts them all.
// `node tools/test.mjs checks|unit|browser [arguments for vitest or playwright]` runs a part, and
// `node tools/test.mjs NAME …` the tests whose paths hold one of the names, such as those of one feature.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { findChromium } from './find-chromium.mjs';
import { installed, root, run, since } from './process.mjs';

const PARTS = ['checks', 'unit', 'browser'];
const LINTED = /\.(ts|tsx|mjs|js)$/;
const FORMATTED = /\.(ts|tsx|mjs|js|css|html|yml|yaml)$|(^|\/)(?!package-lock)[^/]*\.json$/;

/** For tests that keep every core busy while others wait and measure. */
const inBackground = { niceness: 5 };
/** For checks, for which nothing waits: they take what all tests leave idle. */
const whenIdle = { niceness: 19 };

const [first, ...rest] = process.argv.slice(2);
const part = PARTS.find((one) => one === first);
const names = first && !part ? [first, ...rest] : [];
const options = part ? rest : names;
const temp = mkdtempSync(join(tmpdir(), 'lanyard-results-'));
process.once('exit', () => rmSync(temp, { recursive: true, force: true }));

const total = { passed: 0, failed: 0 };
const summary = [];
/** What failed and how, told again at the end: often all that is kept of a long output. */
const failures = [];
/** Tests of what this machine does not have: `[needs nginx]` in their names says what. */
const skipped = [];
const NEEDS = /\[needs [^\]]+\]/;

async function step(title, work) {
  console.log(`\n== ${title}`);
  const from = performance.now();
  const { passed, failed, output } = await work();
  if (output) console.log(`\n== ${title}: all that was said\n${output.trimEnd()}`);
  total.passed += passed;
  total.failed += failed;
  summary.push(
    `${failed ? 'FAILED' : 'ok    '} ${title}: ${passed} passed, ${failed} failed (${since(from)})`,
  );
}

async function check(...commands) {
  for (const command of commands) {
    const { ok, output } = await run(command, { quiet: true, ...whenIdle });
    if (!ok) {
      console.log(output.trimEnd());
      failures.push([command.join(' ').slice(0, 80), lastLine(output)]);
      return { passed: 0, failed: 1 };
    }
  }
  return { passed: 1, failed: 0 };
}

// Other files in a checkout are not checked.
function trackedFiles(pattern) {
  try {
    const listed = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const files = listed
      .toString()
      .split('\0')
      .filter((file) => pattern.test(file) && existsSync(join(root, file)));
    return files.length > 0 ? files : ['.'];
  } catch {
    return ['.'];
  }
}

const firstLine = (text = '') => text.trimStart().split('\n', 1)[0];
const lastLine = (text) => text.trimEnd().split('\n').at(-1);

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

// A run that says it failed without a failed test (a crash, an error outside any test) counts as one.
function counted(ok, passed, failed) {
  return { passed, failed: ok || failed > 0 ? failed : 1 };
}

async function vitest(projects, settings) {
  const file = join(temp, `vitest-${projects.join('-')}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const chosen = projects.map((project) => `--project=${project}`);
  const command = [...installed('vitest'), 'run', '--passWithNoTests', ...reporters, ...chosen, ...options];
  const { ok, output } = await run(command, settings);
  const report = readReport(file);
  if (!report) return { passed: 0, failed: 1, output };
  const broken = report.testResults.filter(
    (one) => one.status === 'failed' && one.assertionResults.length === 0,
  );
  for (const { name, message } of broken) failures.push([name, firstLine(message)]);
  let failed = broken.length;
  for (const { name, assertionResults } of report.testResults)
    for (const one of assertionResults.filter(({ status }) => status !== 'passed')) {
      const title = `${relative(root, name)} > ${one.fullName}`;
      if (one.status !== 'failed' && NEEDS.test(title)) {
        skipped.push(title);
        continue;
      }
      // A test skipped without a reason proves nothing, so it is a failed one.
      failed++;
      failures.push([title, firstLine(one.failureMessages?.[0])]);
    }
  return { ...counted(ok, report.numPassedTests, failed), output };
}

async function browserTests() {
  const chromium = await findChromium();
  if (!chromium) return { passed: 0, failed: 1 };
  const file = join(temp, 'playwright.json');
  const env = { CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: file };
  const command = [
    ...installed('@playwright/test', 'playwright'),
    'test',
    '--pass-with-no-tests',
    ...options,
  ];
  const { ok } = await run(command, { ...inBackground, env });
  const report = readReport(file);
  if (!report) return { passed: 0, failed: 1 };
  const { stats } = report;
  for (const spec of report.suites.flatMap(specsOf).filter((one) => !one.ok))
    failures.push([
      `${spec.file}:${spec.line} ${spec.title}`,
      firstLine(spec.tests[0]?.results[0]?.error?.message),
    ]);
  return counted(ok, stats.expected, stats.unexpected + stats.flaky + stats.skipped);
}

const specsOf = ({ specs, suites = [] }) => [...specs, ...suites.flatMap(specsOf)];

async function checks() {
  const tsc = installed('typescript', 'tsc');
  const projects = ['tsconfig.json', 'client/tsconfig.json'];
  await step('types', () => check(...projects.map((project) => [...tsc, '-p', project, '--noEmit'])));
  const lint = [...installed('oxlint'), '--type-aware', '--deny-warnings', ...trackedFiles(LINTED)];
  const format = [...installed('prettier'), '--check', '--log-level', 'warn', ...trackedFiles(FORMATTED)];
  await step('lint', () => check(lint, format));
  await step('structure', () => check([process.execPath, 'tools/check-structure.mjs']));
  await step('dead code', () => check(installed('knip')));
}

const rooms = (settings) => step('unit and HTTP tests', () => vitest(['console', 'rooms'], settings));
const processes = (settings) =>
  step('tests of whole processes', () => vitest(['alone', 'processes'], settings));
const browser = () => step('browser tests', browserTests);

if (part === 'checks') await checks();
else if (part === 'unit') await rooms().then(() => processes());
else if (part === 'browser') await browser();
else if (names.length > 0)
  await rooms()
    .then(() => processes())
    .then(browser);
else {
  // What stops processes and waits for them leaves most of a core to the others, which give way to it.
  await Promise.all([checks(), processes({ quiet: true }), rooms(inBackground).then(browser)]);
}
if (total.passed + total.failed === 0) {
  failures.push([names.join(' '), 'No test has this in its path.']);
  total.failed++;
}

for (const [what, why] of failures) console.log(`\nFAILED ${what}\n       ${why}`);
console.log(`\n${summary.join('\n')}\n`);
for (const what of skipped) console.log(`skipped ${what}`);
const left = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${left}`);
process.exitCode = total.failed > 0 ? 1 : 0;
