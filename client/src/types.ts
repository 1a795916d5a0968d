/** What the program says about its machine; shown to staff. Without a value, the client finds out what it can. */
export type Facts = {
  hostname?: string | undefined;
  platform?: string | undefined;
  architecture?: string | undefined;
  osVersion?: string | undefined;
  appVersion?: string | undefined;
};

/** The keychain of the operating system, such as `safeStorage` of Electron. */
export type Protect = {
  encrypt(text: string): Uint8Array | Promise<Uint8Array>;
  decrypt(bytes: Uint8Array): string | Promise<string>;
};

/** What the client needs of `fetch`; `net.fetch` of Electron uses the proxy settings of the system. */
export type Fetch = (
  url: string,
  request: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    signal: AbortSignal;
    redirect: 'error';
  },
) => Promise<{
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Where there is a stream, an answer without an end is given up. */
  body?: ByteStream | null;
}>;

/** What the client needs of a `ReadableStream`. */
type ByteStream = {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
};

export type ClientOptions = {
  /** The address of the Lanyard server, such as `https://lanyard.example`. */
  server: string;
  /** As the person typed it; case, spaces and dashes are ignored. */
  licenseKey: string;
  /** The public keys of the server that the program ships (`GET /api/v1/keys`), as PEM or base64url. */
  publicKeys: readonly string[];
  /** A folder for this program, and for one user or those of a group, kept between starts. */
  folder: string;
  /** Instead of the id that the client derives from the operating system. */
  machineId?: string | undefined;
  /** Encrypts the machine's key and token. Without it they are in files that only this user may read, or the group. */
  protect?: Protect | undefined;
  facts?: Facts | undefined;
  /** Instead of Node's HTTP and the proxy of the environment. */
  fetch?: Fetch | undefined;
  /** Instead of the system's clock. */
  now?: (() => Date) | undefined;
  /** How long one call to the server may take; default 10,000 ms. */
  timeoutMs?: number | undefined;
};

/** Decisions of the server, and what the client says itself. */
export type Code =
  | 'VALID'
  | 'NOT_FOUND'
  | 'MALFORMED_KEY'
  | 'REVOKED'
  | 'NOT_YET_VALID'
  | 'EXPIRED'
  | 'CUSTOMER_INACTIVE'
  | 'TOO_MANY_ACTIVATIONS'
  | 'MACHINE_DEACTIVATED'
  | LocalCode;

/** What the client says where no decision of the server counts. */
export type LocalCode =
  /** No answer of the server, and nothing kept that is valid on this machine. */
  | 'NO_ANSWER'
  /** The server was not heard for longer than the kept answer allows. */
  | 'OFFLINE_TOO_LONG'
  /** The license file has expired. */
  | 'FILE_ENDED'
  /** The clock of the machine is behind a time that the client has seen. */
  | 'CLOCK_SET_BACK'
  /** The record of the times that the client has seen is gone from the folder: only the server, or a new request, helps. */
  | 'TIMES_MISSING'
  /** What answered is not the server: signature, nonce, machine or license are wrong. */
  | 'NOT_AUTHENTIC'
  /** The server does not enroll this machine; the message says why. */
  | 'NOT_ENROLLED'
  /** The machine's key can be neither read nor stored. */
  | 'NO_MACHINE_KEY';

export type CheckResult = {
  /** Whether the program may run. */
  valid: boolean;
  /** What says so: the server now, its kept answer, a license file, or nothing. */
  source: 'online' | 'kept' | 'file' | 'none';
  code: Code | (string & {});
  /** A sentence for the person in front of the machine. */
  message: string;
  /** The ids of the modules that the license enables; empty unless valid. */
  modules: string[];
  /** Until when the program may rely on this without asking again (ISO 8601); null unless valid. */
  expiresAt: string | null;
  /** When to check again (ISO 8601), spread at random so that a fleet does not ask at once. */
  askAgainAt: string;
  /** For a log: what went wrong on the way, such as why the server gave no answer. */
  problem?: string;
};

/** Why something could not be done; `message` is for the person. */
export type Refused = { ok: false; code: string; message: string; problem?: string };

export type OfflineRequest = { ok: true; request: string } | Refused;
export type ImportResult = { ok: true; expiresAt: string; modules: string[] } | Refused;
/** `receipt` is a text for the vendor, who frees the seat with it; null if the server freed it. */
export type GiveBackResult = { ok: true; receipt: string | null; message: string } | Refused;

export type Client = {
  /** Whether the program may run, asked at start and again at `askAgainAt`. Never throws. */
  check: () => Promise<CheckResult>;
  /** A text for staff, as a QR code or a file, for a machine without a network. */
  offlineRequest: () => Promise<OfflineRequest>;
  /** Takes the license file into use that staff made from the request. */
  importLicense: (text: string) => Promise<ImportResult>;
  /** Gives the seat of this machine back; the next `check` would take one again. */
  giveBack: () => Promise<GiveBackResult>;
  /** The id by which staff see this machine. */
  machineId: () => Promise<string>; /** Lets electron-updater use the service's feed as this machine, and reports what becomes of each update. */
  connectUpdater: (autoUpdater: Updater, options?: UpdaterOptions) => ConnectedUpdater;
};

/** The parts of electron-updater's `autoUpdater` that are used. */
export type Updater = {
  readonly currentVersion: { version: string; build?: readonly string[]; compare(other: string): number };
  requestHeaders: Record<string, string | string[] | number | undefined> | null;
  setFeedURL(options: { provider: 'generic'; url: string }): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
  emit(event: string, ...args: unknown[]): unknown;
  checkForUpdates(): Promise<unknown>;
  downloadUpdate(...args: never[]): Promise<unknown>;
};

export type UpdaterOptions = {
  /** The package that the program was installed from on Linux; default `appimage`. */
  kind?: 'appimage' | 'deb' | 'rpm';
  /** The architecture of the build, where it is not that of the process: `universal` on macOS. */
  architecture?: 'x64' | 'arm64' | 'ia32' | 'universal';
};

export type ConnectedUpdater = {
  /** Sends the reports that wait, now. Returns how many still wait. */
  deliver: () => Promise<{ waiting: number }>;
  /** Ends the delivery; what waits is sent after the next start. */
  stop: () => Promise<void>;
};
