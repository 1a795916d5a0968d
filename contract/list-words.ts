// Words that addresses of the console have too. Without schemas, because its first script loads them: see decision
// record 67.

export const channels = ['stable', 'beta', 'alpha'] as const;
export const platforms = ['win32', 'darwin', 'linux'] as const;
export const architectures = ['x64', 'arm64', 'ia32'] as const;
export const rolloutAttentions = ['damaged', 'failing', 'claimed', 'paused', 'ready'] as const;
export const machineGroups = ['running', 'failed', 'affected'] as const;
export const machineStates = ['active', 'offline', 'clone', 'refused', 'no_seat'] as const;
export const licenseTypes = ['trial', 'enterprise'] as const;
export const licenseTabs = ['active', 'revoked', 'expired'] as const;
export const seatFilters = ['full', 'high', 'empty'] as const;
export const licenseAttentions = ['ended', 'full', 'offline'] as const;
export const userStatuses = ['active', 'inactive'] as const;
export const apiKeyAttentions = ['ending', 'refused', 'limited'] as const;
