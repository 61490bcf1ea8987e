import type { AgentDescription } from "../../src/engine/index.ts";
import type { SecurityScheme } from "../../src/protocol/index.ts";
import { custom, type AuthResult } from "../../src/server/auth/index.ts";
import type { ServerOptions } from "../../src/server/index.ts";

const SCHEME_NAME = "itk";
const SECURITY_SCHEME: SecurityScheme = { httpAuthSecurityScheme: { scheme: "Bearer" } };

/** Callers by token. The official runner knows the first token, and our runner also uses the second one. */
const PRINCIPALS: Readonly<Record<string, string>> = {
  "Bearer itk-valid-token": "itk",
  "Bearer itk-other-token": "another user",
};

/**
 * Creates the authentication of ACTS. If credentials are optional, requests without credentials have an anonymous
 * caller, who has no access to the extended card.
 */
export function createActsAuthentication(isRequired: boolean): NonNullable<ServerOptions["authenticate"]> {
  const scheme = custom({
    schemeName: SCHEME_NAME,
    securityScheme: SECURITY_SCHEME,
    authenticate: ({ header }) => verifyToken(header("authorization")),
  });
  return isRequired ? scheme : [scheme, () => ({ tenant: "", principal: "" })];
}

function verifyToken(authorization: string | undefined): AuthResult {
  if (authorization === undefined) return undefined;
  if (authorization === "Bearer itk-insufficient-token") return { missingScopes: ["work"] };
  const principal = PRINCIPALS[authorization];
  return principal === undefined ? "invalid" : { tenant: "", principal };
}

/** Returns what the card declares for ACTS. A scheme without a requirement is optional. */
export function describeActsAgent(requiresAuth: boolean): Partial<AgentDescription> {
  return {
    // The instructions of the ITK are binary, and the payloads of `tck-client-parse` are data.
    defaultInputModes: ["text/plain", "application/json", "application/x-protobuf"],
    securitySchemes: { [SCHEME_NAME]: SECURITY_SCHEME },
    ...(requiresAuth ? { securityRequirements: [{ schemes: { [SCHEME_NAME]: { list: [] } } }] } : {}),
  };
}
