import type { ClientCertificate } from "../http-exchange.ts";
import { REALM, toCaller, type AuthScheme, type CallerIdentity } from "./auth-scheme.ts";

export interface MtlsOptions {
  /** Whose certificate it is; undefined refuses it. Default: its subject, as one line. */
  readonly mapIdentity?: (certificate: ClientCertificate) => CallerIdentity | undefined;
  /** In the card's `securitySchemes`. Default `mtls`. */
  readonly schemeName?: string;
}

/**
 * Client certificates. For `https.createServer({ requestCert: true, ca }, server.listener)`: TLS has verified the
 * certificate by `ca` when it is asked for here. Behind a proxy that ends TLS use `custom`, and read the proxy's header.
 */
export function mtls({
  mapIdentity: principal = formatSubject,
  schemeName: name = "mtls",
}: MtlsOptions = {}): AuthScheme {
  return {
    name,
    securityScheme: { mtlsSecurityScheme: {} },
    requiredScopes: [],
    // TLS asks for certificates, not HTTP; but HTTP wants a challenge to be named.
    buildChallenge: () => `Mutual ${REALM}`,
    authenticate: ({ certificate }) => {
      const shown = certificate?.();
      if (!shown) return undefined;
      const grant = principal(shown);
      return grant === undefined || grant === "" ? "invalid" : toCaller(grant);
    },
  };
}

/** `C=DE`, `O=Example` and `CN=ada` stand in lines of their own. */
function formatSubject({ subject }: ClientCertificate): string {
  return subject.trim().split("\n").join(", ");
}
