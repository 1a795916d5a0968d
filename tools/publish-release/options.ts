import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildFields, publishFields } from '../../contract/builds.ts';
import { fromCaller } from '../from-caller.ts';

/** The fields of a release in addition to its file, with the validation of the contract. */
const releaseFields = z.strictObject({ ...buildFields, ...publishFields });

export type Options = {
  server: string;
  apiKey: string;
  file: string;
  fileName: string;
  fields: z.output<typeof releaseFields>;
};

export const usage = `npm run publish-release -- --file <path> --version <1.2.3>
  --channel stable|beta|alpha        (stable)
  --platform win32|darwin|linux      (win32)
  --architecture x64|arm64|ia32|universal  (x64); universal: macOS, for both
  --notes <text>, --notes-file <path>
  --minimum-app-version <1.0.0>
  --security                         overrides deferrals and windows of customers
  --minimum-supported-version <1.0.0>
  --mandatory                        with --publish: a draft cannot be mandatory
  --publish                          offered to machines immediately; default: a draft
  --rollout <0-100>                  percent of the machines (100)
  --server <URL>                     (LANYARD_SERVER, else http://localhost:8080)
The environment variable LANYARD_API_KEY holds an API key with the scope "releases".
`;

const flags = {
  file: { type: 'string' },
  version: { type: 'string' },
  channel: { type: 'string' },
  platform: { type: 'string' },
  architecture: { type: 'string' },
  notes: { type: 'string' },
  'notes-file': { type: 'string' },
  'minimum-app-version': { type: 'string' },
  security: { type: 'boolean', default: false },
  'minimum-supported-version': { type: 'string' },
  mandatory: { type: 'boolean' },
  publish: { type: 'boolean' },
  rollout: { type: 'string' },
  server: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads what to publish and where; throws an error with a message for the user if the options are invalid. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): Options | 'help' {
  const { values } = parseArgs({ args, options: flags });
  if (values.help) return 'help';
  const apiKey = env['LANYARD_API_KEY']?.trim();
  if (!apiKey) throw new Error('LANYARD_API_KEY is not set: it holds an API key with the scope "releases".');
  if (!values.file) throw new Error(`File is required\n\n${usage}`);
  if (values.mandatory && !values.publish)
    throw new Error('--mandatory needs --publish: a draft cannot be mandatory.');
  if (values.notes !== undefined && values['notes-file'] !== undefined)
    throw new Error('Use either --notes or --notes-file.');
  const notesFile = values['notes-file'];
  const fields = releaseFields.safeParse({
    version: values.version,
    channel: values.channel,
    platform: values.platform,
    architecture: values.architecture,
    releaseNotes: notesFile === undefined ? values.notes : readNotes(notesFile),
    minimumAppVersion: values['minimum-app-version'],
    security: values.security,
    minimumSupportedVersion: values['minimum-supported-version'],
    isMandatory: values.mandatory,
    isDraft: !values.publish,
    rolloutPercentage: values.rollout === undefined ? undefined : parseInteger(values.rollout),
  });
  if (!fields.success) throw new Error(fields.error.issues.map(describeIssue).join('\n'));
  const given = values.server ?? (env['LANYARD_SERVER']?.trim() || 'http://localhost:8080');
  const server = given.replace(/\/+$/, '');
  if (!/^https?:\/\//.test(server) || !URL.canParse(server))
    throw new Error(`--server: ${server} is not an http or https URL.`);
  return {
    server,
    apiKey,
    file: fromCaller(values.file),
    fileName: basename(values.file),
    fields: fields.data,
  };
}

/** Strictly: other text would be published with letters that cannot be read. */
function readNotes(file: string): string {
  const bytes = readFileSync(fromCaller(file));
  if (!isUtf8(bytes)) throw new Error(`--notes-file: ${file} is not UTF-8.`);
  return bytes.toString('utf8');
}

const parseInteger = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN);

const flagOf: Record<string, string> = {
  releaseNotes: 'notes',
  minimumAppVersion: 'minimum-app-version',
  minimumSupportedVersion: 'minimum-supported-version',
  rolloutPercentage: 'rollout',
};

/** The message of the server, with the name of the flag. */
function describeIssue({ path, message }: z.core.$ZodIssue): string {
  const field = path.map(String).join('.');
  return `--${flagOf[field] ?? field}: ${message}`;
}
