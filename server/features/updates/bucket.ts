import { hash } from 'node:crypto';

/**
 * The bucket of a machine in the rollout of a release: 0 to 99.99, evenly distributed, constant, and different for each
 * release because of its salt. A machine is included while its bucket is below the percentage, so raising the
 * percentage never excludes a machine.
 */
export function rolloutBucket(salt: string, machineHash: string): number {
  const digest = hash('sha256', `${salt}:${machineHash}`, 'buffer');
  const first52Bits = digest.readUIntBE(0, 6) * 16 + (digest.readUInt8(6) >> 4);
  return Math.floor((first52Bits / 2 ** 52) * 10_000) / 100;
}
