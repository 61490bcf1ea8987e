import type { JsonObject } from "../protocol/index.ts";
import { isJsonObject } from "./adk-event-metadata.ts";

/**
 * Members of a credential request that the bridge may send to a caller. The value `true` allows the entire
 * member.
 */
interface AllowedCredentialMembers {
  readonly [member: string]: true | AllowedCredentialMembers;
}

/**
 * Members of a credential that a user needs in order to sign in. The bridge removes all other members of
 * the credential, for example the client secret.
 */
const CREDENTIAL_REQUEST_MEMBERS_FOR_CALLER: AllowedCredentialMembers = {
  functionCallId: true,
  authConfig: {
    authScheme: true,
    credentialKey: true,
    exchangedAuthCredential: {
      authType: true,
      resourceRef: true,
      oauth2: {
        clientId: true,
        authUri: true,
        nonce: true,
        state: true,
        redirectUri: true,
        audience: true,
      },
    },
  },
};

/**
 * Returns a copy of a credential request without secrets, for the caller. The request contains the data
 * for signing in, but no secrets. ADK later merges the caller's response with the complete request in the
 * session.
 */
export function redactCredentialRequest(call: JsonObject): JsonObject {
  const { args } = call;
  return isJsonObject(args)
    ? { ...call, args: pickAllowedCredentialMembers(args, CREDENTIAL_REQUEST_MEMBERS_FOR_CALLER) }
    : call;
}

function pickAllowedCredentialMembers(object: JsonObject, allowed: AllowedCredentialMembers): JsonObject {
  const picked: JsonObject = {};
  for (const [member, value] of Object.entries(object)) {
    // ADK writes member names in camel case and in snake case.
    const name = member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const nested = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
    if (nested === true) picked[member] = value;
    else if (nested && isJsonObject(value)) picked[member] = pickAllowedCredentialMembers(value, nested);
  }
  return picked;
}
