import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

type Frame = { functionName: string; url: string; lineNumber: number; columnNumber: number };
type CpuProfile = {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
};

/** Where the time of a call goes. The innermost function that one of them names decides. */
const stages: [stage: string, isPart: (frame: Frame) => boolean][] = [
  ['idle', ({ functionName }) => functionName === '(idle)'],
  ['garbage collection', ({ functionName }) => functionName === '(garbage collector)'],
  ['signature', ({ url }) => /crypto\/sig|server\/signer\.ts/.test(url)],
  ['schema', ({ url }) => /node_modules\/zod|http\/input\.ts|^contract\/|\/contract\//.test(url)],
  ['JSON', ({ functionName, url }) => url === '' && /^(stringify|parse)$/.test(functionName)],
  ['database driver', ({ url }) => /node_modules\/(pg|pg-\w+|postgres-\w+|kysely)\//.test(url)],
  [
    'recording',
    ({ url }) => /write-behind|recorder|clones|day-counts|update-events\/|updateUsage|writeUsage/.test(url),
  ],
  [
    'authentication',
    ({ url }) => /bearer-keys|machine-check|api-keys|authentication|budgets|ip-list/.test(url),
  ],
  [
    'decision',
    ({ url }) => /features\/(validation|updates|policies|releases)|db\/(facts|cache|batch-loader)/.test(url),
  ],
  ['HTTP and routing', ({ url }) => /^node:|node_modules\/|server\/(http|app)/.test(url)],
];

/**
 * The microseconds of each stage in the last `seconds` of a profile, largest first, and within it the functions that take
 * the most.
 */
export function stagesOf(file: string, seconds: number) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, { ...callFrame, url: sourceOf(callFrame) }]));
  const stageAt = new Map<number, string>();
  const stageOf = (id: number): string => {
    let stage = stageAt.get(id);
    for (let at: number | undefined = id; !stage && at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at)!;
      stage = stages.find(([, isPart]) => isPart(frame))?.[0];
    }
    stageAt.set(id, (stage ??= 'other'));
    return stage;
  };
  const totals = new Map<string, { us: number; functions: Map<string, number> }>();
  let before = timeDeltas.reduce((sum, us) => sum + us, 0) - seconds * 1_000_000;
  samples.forEach((id, i) => {
    before -= timeDeltas[i]!;
    if (before > 0) return;
    const total = totals.get(stageOf(id)) ?? { us: 0, functions: new Map<string, number>() };
    totals.set(stageOf(id), total);
    const { functionName, url } = frames.get(id)!;
    const name = `${functionName || '(anonymous)'} ${url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}`.trim();
    const us = Math.max(0, timeDeltas[i]!);
    total.us += us;
    total.functions.set(name, (total.functions.get(name) ?? 0) + us);
  });
  return [...totals]
    .map(([stage, { us, functions }]) => ({
      stage,
      us,
      functions: [...functions].toSorted(([, a], [, b]) => b - a).slice(0, 8),
    }))
    .toSorted((a, b) => b.us - a.us);
}

const maps = new Map<string, SourceMap | undefined>();

/** The file in which a function of the build was written. */
function sourceOf({ url, lineNumber, columnNumber }: Frame): string {
  if (!url.startsWith('file:')) return url;
  if (!maps.has(url)) {
    const file = `${fileURLToPath(url)}.map`;
    const map = existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
    maps.set(url, map ? new SourceMap(map) : undefined);
  }
  const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
  return entry && 'originalSource' in entry ? entry.originalSource : url;
}
