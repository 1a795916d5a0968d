import { hash } from 'node:crypto';

/**
 * Where a machine stands in the rollout of a release: 0 to 99.99, evenly spread, the same for ever, and different
 * for each release because each has its own salt. The machine is inside while the bucket is below the percentage,
 * so raising the percentage never takes a release away from a machine.
 */
export function rolloutBucket(salt: string, machineHash: string): number {
  const digest = hash('sha256', `${salt}:${machineHash}`, 'buffer');
  const first52Bits = digest.readUIntBE(0, 6) * 16 + (digest.readUInt8(6) >> 4);
  return Math.floor((first52Bits / 2 ** 52) * 10_000) / 100;
}
