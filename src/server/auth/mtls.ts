import type { ClientCertificate } from "../exchange.ts";
import { REALM, toCaller, type AuthScheme, type Grant } from "./scheme.ts";

export interface MtlsOptions {
  /** Whose certificate it is; undefined refuses it. Default: its subject, as one line. */
  readonly principal?: (certificate: ClientCertificate) => Grant | undefined;
  /** In the card's `securitySchemes`. Default `mtls`. */
  readonly name?: string;
}

/**
 * Client certificates. For `https.createServer({ requestCert: true, ca }, server.listener)`: TLS has verified the
 * certificate by `ca` when it is asked for here. Behind a proxy that ends TLS use `custom`, and read the proxy's header.
 */
export function mtls({ principal = subjectOf, name = "mtls" }: MtlsOptions = {}): AuthScheme {
  return {
    name,
    declared: { mtlsSecurityScheme: {} },
    scopes: [],
    // TLS asks for certificates, not HTTP; but HTTP wants a challenge to be named.
    challenge: () => `Mutual ${REALM}`,
    find: ({ certificate }) => {
      const shown = certificate?.();
      if (!shown) return undefined;
      const grant = principal(shown);
      return grant === undefined || grant === "" ? "invalid" : toCaller(grant);
    },
  };
}

/** `C=DE`, `O=Example` and `CN=ada` stand in lines of their own. */
function subjectOf({ subject }: ClientCertificate): string {
  return subject.trim().split("\n").join(", ");
}
