import type { ClientCertificate } from "../http-exchange.ts";
import { REALM, toCaller, type AuthScheme, type CallerIdentity } from "./auth-scheme.ts";

/** Options for `mtls`. */
export interface MtlsOptions {
  /**
   * Returns the identity of a certificate. A result of `undefined` rejects the certificate. Default: the
   * subject, as one line.
   */
  readonly mapIdentity?: (certificate: ClientCertificate) => CallerIdentity | undefined;
  /** Name of the scheme in the card's `securitySchemes`. Default: `mtls`. */
  readonly schemeName?: string;
}

/**
 * Creates a scheme for client certificates. Use this scheme with `https.createServer({ requestCert: true, ca
 * }, server.listener)`, where TLS verifies each certificate with `ca`. Behind a proxy that ends TLS, use
 * `custom` and read the proxy's header.
 */
export function mtls({ mapIdentity = formatSubject, schemeName = "mtls" }: MtlsOptions = {}): AuthScheme {
  return {
    name: schemeName,
    securityScheme: { mtlsSecurityScheme: {} },
    requiredScopes: [],
    // HTTP requires a challenge, although TLS requests the certificate.
    buildChallenge: () => `Mutual ${REALM}`,
    authenticate: (request) => {
      const certificate = request.certificate?.();
      if (!certificate) return undefined;
      const identity = mapIdentity(certificate);
      return identity === undefined || identity === "" ? "invalid" : toCaller(identity);
    },
  };
}

/** Joins the lines of a certificate subject, such as `C=DE`, `O=Example`, and `CN=ada`. */
function formatSubject({ subject }: ClientCertificate): string {
  return subject.trim().split("\n").join(", ");
}
