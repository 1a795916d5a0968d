import { z } from 'zod';
import { instant, optional, requiredLine, text, wholeFrom } from './common.ts';
import { acceptableFailures } from './guard.ts';
import { rolloutPlan, startNeedsPlan } from './rollout-plan.ts';
import { isVersion } from './versions.ts';
import { architectures, channels, platforms } from './list-words.ts';

/* The fields of a build, shared by direct uploads, chunked uploads and external URLs. */

/** A version in a request; the message is the spec's (part 2, section 5). */
export const versionText = requiredLine(100, 'Version is required').refine(isVersion, {
  error: (issue) => `Invalid semantic version: ${String(issue.input)}`,
});

export type Platform = (typeof platforms)[number];
export type Architecture = (typeof architectures)[number];

/** Display names (spec part 2, section 2.1). */
export const platformNames: Record<Platform, string> = { win32: 'Windows', darwin: 'macOS', linux: 'Linux' };
export const architectureNames: Record<Architecture, string> = { x64: 'x64', arm64: 'arm64', ia32: 'x86' };

/** Also accepts the values that electron-builder substitutes for `${os}`. */
export const platformName = z
  .enum([...platforms, 'win', 'mac'])
  .transform((name): Platform => (name === 'win' ? 'win32' : name === 'mac' ? 'darwin' : name));

/** `universal` is a macOS program for both architectures; it is stored and queried as `x64`. */
export const architectureName = z
  .enum([...architectures, 'universal'])
  .transform((name): Architecture => (name === 'universal' ? 'x64' : name));

export const percentage = wholeFrom(0, 100);

/** Empty or a version. */
const optionalVersion = z
  .union([z.literal(''), versionText])
  .nullish()
  .transform((value) => value || null);

/** The fields that identify a build, equal in every upload mode. */
export const buildFields = {
  version: versionText,
  channel: z.enum(channels).default('stable'),
  platform: platformName.default('win32'),
  architecture: architectureName.default('x64'),
};

/** How a build is published. A draft cannot be mandatory: the server clears it. */
export const publishFields = {
  releaseNotes: optional(text(20_000)),
  minimumAppVersion: optionalVersion,
  isMandatory: z.boolean().default(false),
  security: z.boolean().default(false),
  minimumSupportedVersion: optionalVersion,
  isDraft: z.boolean().default(true),
  rolloutPercentage: percentage.default(100),
  acceptableFailures: acceptableFailures.nullish().transform((value) => value ?? null),
  rolloutPlan: rolloutPlan
    .nullish()
    .transform((value) => value ?? null)
    .meta({ description: 'Steps of the rollout, in place of the percentage' }),
  startsAt: instant
    .nullish()
    .transform((value) => value ?? null)
    .meta({ description: 'When the plan starts; null: when the release is published' }),
};

/** What staff or a build pipeline say about a build, in every upload mode. */
export type BuildInput = z.output<z.ZodObject<typeof buildFields & typeof publishFields>>;

/** Whether a new release has a plan and a percentage, or a start without a plan: the field and the error. */
export function planProblem({
  rolloutPlan: plan,
  startsAt,
  rolloutPercentage,
}: Pick<BuildInput, 'rolloutPlan' | 'startsAt' | 'rolloutPercentage'>) {
  if (plan === null) return startsAt === null ? undefined : (['startsAt', startNeedsPlan] as const);
  return rolloutPercentage === 100
    ? undefined
    : (['rolloutPlan', 'Give a percentage or a plan, not both'] as const);
}

/** Adds that error to those of a body. */
export function checkPlan(
  build: Pick<BuildInput, 'rolloutPlan' | 'startsAt' | 'rolloutPercentage'>,
  context: z.core.$RefinementCtx,
): void {
  const [field, message] = planProblem(build) ?? [];
  if (field) context.addIssue({ code: 'custom', path: [field], message });
}

/** 64 bytes in base64, or 128 hex digits; stored as base64. */
export const sha512 = z
  .string('SHA512 hash is required')
  .trim()
  .min(1, { error: 'SHA512 hash is required', abort: true })
  .regex(/^([A-Za-z0-9+/]{86}==|[0-9a-fA-F]{128})$/, 'Must be a SHA-512 in base64 or hex')
  .transform((value) => (value.length === 128 ? hexToBase64(value) : value));

function hexToBase64(hex: string): string {
  return btoa(hex.replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16))));
}

/** Bytes of one file. */
export const largestFile = 20 * 1024 ** 3;
