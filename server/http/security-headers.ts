/** The console needs the two `unsafe` sources: Mantine sets styles inline, hash-wasm compiles WebAssembly. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

type SecurityHeaders = { ofPages: Record<string, string>; ofData: Record<string, string> };

/**
 * The headers of every response, computed once. Data gets a short policy that forbids everything, because the headers
 * of pages would take a noticeable part of the time of a validation.
 */
export function securityHeaders(https: boolean): SecurityHeaders {
  const always = {
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...(https ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
  return {
    ofPages: {
      ...always,
      'content-security-policy': contentSecurityPolicy,
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    },
    ofData: { ...always, 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" },
  };
}
