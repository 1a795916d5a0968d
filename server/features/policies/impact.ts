import { sql, type RawBuilder, type Selectable } from 'kysely';
import { isInsidePin, type PolicyImpact, type UpdatePolicy } from '../../../contract/policies.ts';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { fedKinds } from '../../../contract/fed-kinds.ts';
import { channels } from '../../../contract/list-words.ts';
import { plausibleNow } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import type { Tables } from '../../db/tables.ts';
import { recordHash } from '../../db/sql.ts';
import { noSuch, type Failure } from '../../failure.ts';
import type { TrashedRelease, LiveRelease, ReleaseSet } from '../releases/index.ts';
import { candidatesOf, countedVersion, decideOffer, pinCounts, type Policed } from '../updates/index.ts';
import { ownersOf, toldBy, type CustomerOfMachine } from './customer-of-machine.ts';
import {
  effectiveOf,
  fieldsOfPolicy,
  readPolicies,
  type EffectivePolicies,
  type EffectivePolicy,
  type PolicyData,
} from './policy-set.ts';

/** Machines are looked at up to this number; a count beyond it is said to be incomplete. */
const mostMachines = 20_000;
/** Between two pieces, other calls have their turn. */
const piece = 200;

export type ImpactParts = Pick<Context, 'db' | 'pool' | 'config'> & { releaseSet: ReleaseSet };

/** What changes if a customer had these tags and this policy at `now`. */
export async function impactOnCustomer(
  parts: ImpactParts,
  customerId: string,
  { tags, ...fields }: UpdatePolicy & { tags: readonly string[] },
  now: Date,
): Promise<PolicyImpact | Failure> {
  const data = await readPolicies(parts.db);
  const customer = await parts.db
    .selectFrom('customers')
    .select('name')
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  if (!customer) return noSuch('customer');
  const own = fieldsOfPolicy(fields);
  const customers = new Map(data.customers).set(customerId, { name: customer.name, tags, own });
  return impact(parts, [customerId], { before: data, after: { ...data, customers } }, own, now);
}

/** What changes if a tag had this policy at `now`. */
export async function impactOnTag(
  parts: ImpactParts,
  tag: string,
  fields: UpdatePolicy,
  now: Date,
): Promise<PolicyImpact> {
  const data = await readPolicies(parts.db);
  const policy = fieldsOfPolicy(fields);
  const tags = new Map(data.tags).set(tag, policy);
  const customers = [...data.customers].filter(([, customer]) => customer.tags.includes(tag));
  const ids = customers.map(([customerId]) => customerId);
  return impact(parts, ids, { before: data, after: { ...data, tags } }, policy, now);
}

/**
 * What changes if a license belonged to another customer at `now`, for the machines that follow the policy of its
 * customer because of this license.
 */
export async function impactOfTransfer(
  parts: ImpactParts,
  { licenseId }: { licenseId: string },
  toCustomerId: string,
  now: Date,
): Promise<Offers> {
  const policies = effectiveOf(await readPolicies(parts.db));
  const found = await machinesOf(parts, sql`l.license_id = ${licenseId}`);
  const isMoved = (owner: CustomerOfMachine) => owner.licenseId === licenseId;
  const move = (owner: CustomerOfMachine) =>
    isMoved(owner) ? { ...owner, customerId: toCustomerId } : owner;
  const sidesOf = (owners: readonly CustomerOfMachine[]) => ({
    before: followed(owners, policies),
    after: followed(owners.map(move), policies),
  });
  const { unpinned: _, ...offers } = await compareOffers(parts, found, { sidesOf, counts: isMoved }, now);
  return offers;
}

type Offers = Omit<PolicyImpact, 'pinMatches' | 'unpinned'>;

/** The customer of a machine whose policy it follows, and this policy. */
type Followed = { owner: CustomerOfMachine; policy: EffectivePolicy | undefined };

function followed(owners: readonly CustomerOfMachine[], policies: EffectivePolicies): Followed | undefined {
  const owner = toldBy(owners, policies);
  return owner && { owner, policy: policies.get(owner.customerId) };
}

type Compared = { before: PolicyData; after: PolicyData };

async function impact(
  parts: ImpactParts,
  customerIds: readonly string[],
  compared: Compared,
  policy: UpdatePolicy,
  now: Date,
): Promise<PolicyImpact> {
  const found =
    customerIds.length > 0 ? await machinesOf(parts, sql`l.customer_id = any(${customerIds}::uuid[])`) : [];
  const mine = new Set(customerIds);
  const [before, after] = [effectiveOf(compared.before), effectiveOf(compared.after)];
  const sidesOf = (owners: readonly CustomerOfMachine[]) => ({
    before: followed(owners, before),
    after: followed(owners, after),
  });
  const counts = ({ customerId }: CustomerOfMachine) => mine.has(customerId);
  const pinMatches = policy.pin === null ? null : await matchesAny(parts, policy.pin);
  const pin = policy.pin === null ? undefined : { value: policy.pin, matches: pinMatches === true };
  return { ...(await compareOffers(parts, found, { sidesOf, counts, pin }, now)), pinMatches };
}

type Sides = {
  /** What a machine of these customers follows before and after the change. */
  sidesOf: (owners: readonly CustomerOfMachine[]) => Record<'before' | 'after', Followed | undefined>;
  /** Whether a machine that follows this customer, before or after, is counted. */
  counts: (owner: CustomerOfMachine) => boolean;
  /** The pin that the change sets, and whether a release of any build matches it. */
  pin?: { value: string; matches: boolean } | undefined;
};

/**
 * Counts the machines that the change is about, those that would be offered something else, or nothing, and those for
 * which its pin does not count.
 */
async function compareOffers(
  parts: ImpactParts,
  found: readonly Row[],
  { sidesOf, counts, pin }: Sides,
  now: Date,
): Promise<Offers & { unpinned: number }> {
  const [{ live, trashed }, deferredBy] = await Promise.all([
    parts.releaseSet(),
    plausibleNow(parts.db, now),
  ]);
  const { updatesAfterRevocation } = parts.config;
  const result = { machines: 0, changed: 0, held: 0, unpinned: 0 };
  const looked = found.slice(0, mostMachines);
  for (let from = 0; from < looked.length; from += piece) {
    const some = looked.slice(from, from + piece);
    const ofMachines = await ownersOf(
      parts,
      some.map(({ machine_hash }) => machine_hash.toString('hex')),
    );
    for (const [index, machine] of some.entries()) {
      const { before, after } = sidesOf(ofMachines[index]?.owners ?? []);
      if (!before || !after || !(counts(before.owner) || counts(after.owner))) continue;
      const askedBy = ({ owner, policy }: Followed) => {
        const isLicensed = owner.isActive || updatesAfterRevocation;
        const policed = { policy: { isLicensed, ...policy }, now, deferredBy, trashed };
        return questionsOf(live, machine, policed);
      };
      const asked = askedBy(after);
      const [was, is] = [offersTo(live, askedBy(before)), offersTo(live, asked)];
      result.machines++;
      const follows = pin !== undefined && after.policy?.pin?.value === pin.value;
      if (follows && !(asked.length > 0 ? isPinned(live, asked) : pin.matches)) result.unpinned++;
      if (was.join() === is.join()) continue;
      result.changed++;
      if (is.every((id) => id === '')) result.held++;
    }
  }
  return { ...result, isComplete: found.length <= mostMachines };
}

type Row = Pick<
  Selectable<Tables['machines']>,
  'machine_hash' | 'platform' | 'architecture' | 'channel' | 'last_version'
>;

/** Machines with an activation on these licenses `l`; one more than are looked at, if there are more. */
async function machinesOf({ db }: ImpactParts, which: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select m.machine_hash, m.platform, m.architecture, m.channel, m.last_version
      from machines m
     where m.machine_hash in (
       select ${recordHash('c', 'a')}
         from activations a join licenses l using (license_id) left join machine_credentials c using (activation_id)
        where ${which})
     limit ${mostMachines + 1}`.execute(db);
  return rows;
}

type Asked = Parameters<typeof decideOffer>[1];

/** What each updater of the machine's platform would ask; nothing where the machine has not said what it is. */
function questionsOf(
  releases: readonly LiveRelease[],
  machine: Row,
  policed: Policed & { trashed: readonly TrashedRelease[] },
): Asked[] {
  const { platform, architecture } = machine;
  if (!platform || !architecture) return [];
  const question = {
    platform: platform as Platform,
    architecture: architecture as Architecture,
    channel: machine.channel ?? channels[0],
    currentVersion: countedVersion(machine.last_version, [...releases, ...policed.trashed]),
    machineHash: machine.machine_hash.toString('hex'),
    policed,
  };
  return fedKinds[question.platform].map((fileKind) => ({ ...question, fileKind }));
}

/** The id of the release that each of the updaters would offer; empty for none. */
const offersTo = (releases: readonly LiveRelease[], questions: readonly Asked[]): string[] =>
  questions.map((question) => decideOffer(releases, question).release?.id ?? '');

/** Whether the pin counts for one of the updaters: which one the machine has is unknown. */
const isPinned = (releases: readonly LiveRelease[], questions: readonly Asked[]): boolean =>
  questions.some((question) => pinCounts(candidatesOf(releases, question), question));

async function matchesAny({ releaseSet }: ImpactParts, pin: string): Promise<boolean> {
  const { live, trashed } = await releaseSet();
  return [...live, ...trashed].some((r) => r.wasPublished && isInsidePin(r.version, pin));
}
