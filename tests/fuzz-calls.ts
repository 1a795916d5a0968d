import { contract } from '../contract/index.ts';
import {
  deactivate,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeMachineKey,
  makeRelease,
  signedEnrollment,
  softDelete,
  validateOn,
} from './factories.ts';
import { password, type Session, type TestServer } from './harness.ts';
import { offlineMachine } from './offline-machine.ts';

export type Json = Record<string, unknown>;

/** Makes the records that the calls are about. Returns path parameters and, for each call that takes one, a body. */
export async function fuzzedCalls(server: TestServer, admin: Session) {
  const api = server.api(admin);
  const { customerId } = await makeCustomer(api);
  const license = await makeLicense(api, { customerId });
  const { activation } = await validateOn(api, license, 'machine');
  await deactivate(api, (await validateOn(api, license, 'another')).activation!);
  await softDelete(api, await makeCustomer(api));
  const { id: keyId } = await makeApiKey(api);
  const { id: releaseId } = await makeRelease(server);
  const upload = { fileName: 'App.exe', fileSize: 1000, version: '9.0.0' };
  const { uploadId, fileKey } = await api.ok(contract.uploads.prepare, { body: upload });
  /** Valid parameters, so that the fuzzed input is the only error. */
  const params: Record<string, string> = {
    id: customerId,
    licenseKey: license.licenseKey,
    activationId: activation!.activationId,
    keyId,
    key: 'retentionDays',
    userId: admin.userId,
    roleId: 'viewer',
    sessionId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c12',
    releaseId,
    platform: 'win32',
    architecture: 'x64',
    version: '1.0.0',
    file: 'latest.yml',
    tag: 'clinics',
    uploadId,
    requestId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c13',
    channel: 'stable',
    index: '0',
    fileName: 'App.exe',
  };
  const { licenseKey } = license;
  const updatedAt = '2026-01-01T00:00:00Z';
  const machineFacts = { hostname: 'h', platform: 'p', architecture: 'a', osVersion: 'o', appVersion: 'v' };
  const publishing = {
    channel: 'beta',
    releaseNotes: 'Notes',
    minimumAppVersion: '0.9.0',
    security: true,
    minimumSupportedVersion: '0.9.0',
    acceptableFailures: 2.5,
    rolloutPlan: [{ percentage: 5, hours: null }],
    startsAt: '2026-11-21T08:00:00Z',
  };
  const customer = {
    name: 'Clinic',
    contactName: 'Ada',
    email: 'ada@clinic.example',
    phone: '1',
    country: 'DE',
  };
  const policy = {
    channel: 'beta',
    pin: '4.2.',
    pinForSecurity: true,
    deferDays: 7,
    windows: [{ zone: 'Europe/Berlin', weekdays: ['fri', 'sat'], from: '22:00', to: '05:00' }],
    updatesUntil: '2026-12-31',
  };
  const trial = {
    customerId,
    type: 'trial',
    validFrom: '2026-01-01T00:00:00Z',
    validUntil: '2027-01-01T00:00:00Z',
    maxActivations: 3,
    moduleIds: ['mod_copd'],
  };
  const apiKey = {
    name: 'Key',
    expiresAt: '2027-01-01T00:00:00Z',
    rateLimit: 10,
    ipWhitelist: ['10.0.0.0/8'],
  };
  /** A valid body for each call. */
  const bodies: Record<string, Json> = {
    'session.login': { email: admin.email, password },
    'customers.create': customer,
    'customers.update': { ...customer, updatedAt },
    'policies.putOfCustomer': { ...policy, tags: ['clinics'], updatedAt },
    'policies.impactOnCustomer': { ...policy, tags: ['clinics'] },
    'policies.putOfTag': { ...policy, updatedAt },
    'policies.impactOnTag': { ...policy, tag: 'clinics' },
    'licenses.create': trial,
    'licenses.update': { ...trial, updatedAt },
    'imports.checkCustomers': { csv: 'Company Name,Country\nClinic,DE', skipExisting: false },
    'imports.customers': { csv: 'Company Name,Country\nClinic,DE', skipExisting: false },
    'imports.checkLicenses': { csv: 'Customer\nNobody', createCustomers: false },
    'imports.licenses': { csv: 'Customer\nNobody', createCustomers: false },
    'bulkLicenses.preview': {
      ids: [license.licenseId],
      change: { kind: 'modules', add: ['mod_copd'], remove: ['mod_diabetes'] },
    },
    'bulkLicenses.change': {
      licenses: [
        {
          licenseId: license.licenseId,
          updatedAt,
          validUntil: '2027-01-01T00:00:00Z',
          moduleIds: ['mod_copd'],
        },
      ],
    },
    'licenses.transfer': { customerId, updatedAt },
    'activations.deactivate': { machineId: 'machine' },
    'offline.issue': { request: offlineMachine('machine').request(license), days: 30 },
    'offline.giveBack': { receipt: offlineMachine('machine').receipt(license, customerId) },
    'validation.validate': {
      licenseKey,
      machineId: 'machine',
      nonce: 'n',
      ...machineFacts,
    },
    'approvals.ask': {
      call: 'PATCH /api/v1/updates/admin/releases/{releaseId}',
      params: { releaseId },
      body: { isDraft: false },
      seen: updatedAt,
    },
    'approvals.approve': { currentPassword: password },
    'approvals.decline': { reason: 'Not on Friday' },
    'approvals.setChannel': { required: true },
    'credentials.enroll': {
      ...signedEnrollment(licenseKey, 'machine', makeMachineKey()),
      ...machineFacts,
    },
    'validation.releaseSeat': { licenseKey, machineId: 'machine' },
    'updateEvents.report': {
      events: [
        {
          eventId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c11',
          machineId: 'machine',
          eventType: 'install_error',
          timestamp: '2026-11-20T09:00:00Z',
          platform: 'win32',
          architecture: 'x64',
          channel: 'stable',
          fromVersion: '1.0.0',
          toVersion: '1.1.0',
          errorCode: 'EACCES',
          errorMessage: 'no',
        },
      ],
    },
    'apiKeys.create': apiKey,
    'audit.setConfig': { value: 400 },
    'views.create': { list: 'licenses', name: 'Full', query: 'seats=full', shared: true },
    'views.update': { name: 'Fuller', query: 'seats=high', shared: false, updatedAt },
    'clock.confirm': { now: '2026-11-01T08:00:00.000Z' },
    'account.changePassword': {
      currentPassword: 'not it',
      newPassword: 'a new password',
      confirmPassword: 'a new password',
    },
    'account.setFirstScreen': { screen: 'today' },
    'account.enrollSecondFactor': { currentPassword: 'not it' },
    'account.confirmSecondFactor': { code: '123456' },
    'account.removeSecondFactor': { currentPassword: 'not it' },
    'users.create': { email: 'new@lanyard.test', name: 'New', password: 'a new password', role: 'viewer' },
    'users.update': {
      email: 'new@lanyard.test',
      name: 'New',
      role: 'viewer',
      updatedAt,
    },
    'users.resetPassword': { newPassword: 'a new password', confirmPassword: 'a new password' },
    'users.reactivate': { currentPassword: 'a password' },
    'users.resetSecondFactor': { currentPassword: 'a password' },
    'rbac.createRole': { roleId: 'made_here', description: 'Made here', copyFrom: 'viewer' },
    'rbac.updateRole': {
      description: 'read-only access for stakeholders',
      requiresSecondFactor: false,
      permissions: [{ resource: 'licenses', action: 'read' }],
    },
    'apiKeys.update': { ...apiKey, isActive: true, scopes: ['validate'] },
    'uploads.prepare': {
      fileName: 'App.exe',
      fileSize: 1000,
      version: '9.0.1',
      channel: 'beta',
      platform: 'win32',
      architecture: 'x64',
    },
    'uploads.complete': {
      uploadId,
      fileKey,
      totalChunks: 1,
      sha512: 'ab'.repeat(64),
      version: '9.0.0',
      platform: 'win32',
      architecture: 'x64',
      isMandatory: false,
      isDraft: true,
      rolloutPercentage: 100,
      ...publishing,
    },
    'releases.createFromUrl': {
      version: '1.2.3',
      platform: 'darwin',
      architecture: 'arm64',
      isMandatory: true,
      isDraft: false,
      rolloutPercentage: 100,
      ...publishing,
      fileUrl: 'https://files.example/App.dmg',
      fileSize: 1000,
      sha512: `${'A'.repeat(86)}==`,
    },
    'releases.update': {
      isActive: true,
      isDraft: false,
      isMandatory: true,
      ...publishing,
      updatedAt,
    },
    'rollouts.plan': {
      plan: [
        { percentage: 1, hours: 24 },
        { percentage: 100, hours: null },
      ],
      startsAt: '2026-11-21T08:00:00Z',
    },
    'rollouts.widen': { percentage: 10 },
    'rollouts.setDefault': { plan: [{ percentage: 100, hours: null }] },
    'releases.pause': { reason: 'Two sites report crashes' },
    'releases.rollout': { percentage: 5 },
    'releases.withdraw': { reason: 'Broken' },
    'releases.softDelete': { reason: 'Broken' },
    'releases.restore': { reason: 'Needed' },
    'releases.deletePermanently': { confirmation: 'PERMANENTLY DELETE', reason: 'Broken' },
  };
  return { params, bodies };
}
