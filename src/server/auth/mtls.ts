import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { ClientCertificate } from "../http-exchange.ts";
import { REALM, toCallerFromIdentity, type AuthScheme, type CallerIdentity } from "./auth-scheme.ts";

/** Options for `mtls`. */
export interface MtlsOptions {
  /**
   * Returns the identity in a client certificate, or `undefined` to reject the certificate. By default, the
   * principal is the certificate subject as a single line of text.
   */
  readonly mapIdentity?: (certificate: ClientCertificate) => CallerIdentity | undefined;
  /** Name of the authentication scheme in the agent card's `securitySchemes`. Default: `mtls`. */
  readonly schemeName?: string;
}

const assertKnownOptions = defineOptionNames<MtlsOptions>()("mtls", "mapIdentity schemeName");

/**
 * Creates an authentication scheme for TLS client certificates. Use the `mtls` scheme with
 * `https.createServer({ requestCert: true, ca }, server.listener)`, which verifies each client certificate
 * with `ca`. If a proxy terminates TLS, use `custom` and read the certificate from the proxy's header.
 */
export function mtls(options: MtlsOptions = {}): AuthScheme {
  assertKnownOptions(options);
  const { mapIdentity = formatSubject, schemeName = "mtls" } = options;
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
      return identity === undefined || identity === "" ? "invalid" : toCallerFromIdentity(identity);
    },
  };
}

/** Joins the lines of a certificate subject, such as `C=DE` and `CN=ada`, into one line of text. */
function formatSubject({ subject }: ClientCertificate): string {
  return subject.trim().split("\n").join(", ");
}
