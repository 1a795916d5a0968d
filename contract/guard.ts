import { z } from 'zod';
import { dateTime, namedObject } from './common.ts';

/** A share of installs, in percent, that may fail without pausing a rollout. */
export const acceptableFailures = z
  .number('Must be a number from 0.1 to 50')
  .min(0.1, 'Must be a number from 0.1 to 50')
  .max(50, 'Must be a number from 0.1 to 50')
  .meta({ description: 'Percent of installs that may fail; null: as many as of the previous full release' });

/** The share of failures that the guard takes as acceptable where no earlier release shows one, in percent. */
export const defaultAcceptableFailures = 5;

const comparison = {
  acceptable: z.number().meta({ description: 'Percent of installs that may fail' }),
  acceptableFrom: z.enum(['GIVEN', 'PREVIOUS', 'USUAL']).meta({
    description:
      'GIVEN: set at the release; PREVIOUS: what the previous full release showed; USUAL: it showed too little',
  }),
  previous: z
    .object({ version: z.string(), installs: z.number(), failed: z.number() })
    .nullable()
    .meta({ description: 'The previous full release, and its machines whose install ever failed' }),
};

/** The bounds, in percent, of the acceptable failures that are taken from an earlier release. */
export const measuredFailures = { least: 0.5, most: 50 };

/** What the installs of a build without acceptable failures of its own are compared with. */
export const failureComparison = namedObject('FailureComparison', comparison);
export type FailureComparison = z.output<typeof failureComparison>;

/**
 * What the rollout guard sees of a release: whether installs fail too often, or machines fall silent that took it. It
 * pauses the rollout for FAILING and SILENT; with CLAIMED, the failures that it does not count are too many, and no step
 * of a plan is taken.
 */
export const guardState = namedObject('GuardState', {
  at: dateTime.meta({ description: 'When the machines were counted' }),
  verdict: z.enum(['QUIET', 'FAILING', 'SILENT', 'CLAIMED']),
  sentence: z
    .string()
    .meta({ description: 'The verdict with its numbers, for staff; the reason of a pause' }),
  figures: z.object({
    failures: z
      .object({
        installs: z.number().meta({ description: 'Machines by whose last report the install ended' }),
        failed: z.number(),
        provenOnly: z.boolean().meta({ description: 'Only machines with a token are counted' }),
        claimed: z
          .object({ installs: z.number(), failed: z.number() })
          .meta({ description: 'Those of other machines, where only machines with a token are counted' }),
        ...comparison,
      })
      .meta({ description: 'Installs since the rollout began or was resumed' }),
    silence: z
      .object({
        taken: z.number().meta({
          description:
            'Machines that took it more than twice their usual interval ago; a sample beyond 10,000',
        }),
        silent: z.number().meta({ description: 'Of these, not heard of for twice their usual interval' }),
        others: z.number().meta({
          description: 'A sample of the machines without it that were heard of when they could have taken it',
        }),
        othersSilent: z.number(),
      })
      .nullable()
      .meta({ description: 'Machines that fell silent; null where they are not compared, as at 100 %' }),
  }),
});
export type GuardState = z.output<typeof guardState>;
