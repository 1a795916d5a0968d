/*
 * The labels of the fields of forms, as conflicts and the audit log name them as well. A file of its own for each
 * record would be a cycle of rooms: the forms link to the audit log.
 */

export const customerLabels = {
  name: 'Company Name',
  contactName: 'Contact Name',
  email: 'Email',
  phone: 'Phone',
  country: 'Country',
} as const;

/** Spec part 1, section 2. */
export const licenseLabels = {
  customerId: 'Customer',
  type: 'License Type',
  maxActivations: 'Max Activations',
  validFrom: 'Valid From',
  validUntil: 'Valid Until',
  moduleIds: 'Modules',
} as const;

export const releaseLabels = {
  isDraft: 'Draft Release',
  isMandatory: 'Mandatory Update',
  isActive: 'Active Release',
  channel: 'Channel',
  minimumAppVersion: 'Minimum App Version',
  security: 'Security Update',
  minimumSupportedVersion: 'Minimum Supported Version',
  releaseNotes: 'Release Notes',
  acceptableFailures: 'Acceptable failures',
  rollout: 'Rollout',
} as const;

export const policyLabels = {
  tags: 'Tags',
  channel: 'Channel',
  pin: 'Pinned Version',
  pinForSecurity: 'Also for security updates',
  deferDays: 'Deferral',
  updatesUntil: 'Updates Until',
  windows: 'Maintenance Windows',
} as const;

export const userLabels = { email: 'Email', name: 'Name', role: 'Role' } as const;

/** The matrix is merged cell by cell, and does not conflict. */
export const roleLabels = {
  description: 'Description',
  requiresSecondFactor: 'Requires a second factor',
} as const;

export const apiKeyLabels = {
  name: 'Name',
  isActive: 'Status',
  expiresAt: 'Expiration Date',
  rateLimit: 'Rate Limit',
  ipWhitelist: 'IP Whitelist',
  scopes: 'Scopes',
} as const;
