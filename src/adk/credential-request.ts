import type { JsonObject } from "../protocol/index.ts";
import { isJsonObject } from "./metadata.ts";

/** The call with which ADK asks its user for a credential. */
export const CREDENTIAL_CALL_NAME = "adk_request_credential";

/** The members that may leave the house; `true`: whole. */
interface AllowedMembers {
  readonly [member: string]: true | AllowedMembers;
}

/** What a user needs in order to sign in; of the rest, such as the client's secret, an agent's caller must not know. */
const ALLOWED_MEMBERS: AllowedMembers = {
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
 * A request for a credential as its caller may see it: how to sign in, and nothing that signs in. ADK puts the answer
 * together with what it has recorded itself.
 */
export function redactCredentialRequest(call: JsonObject): JsonObject {
  const { args } = call;
  return isJsonObject(args) ? { ...call, args: pickAllowed(args, ALLOWED_MEMBERS) } : call;
}

function pickAllowed(object: JsonObject, allowed: AllowedMembers): JsonObject {
  const picked: JsonObject = {};
  for (const [member, value] of Object.entries(object)) {
    // ADK writes members in both ways.
    const name = member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const below = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
    if (below === true) picked[member] = value;
    else if (below && isJsonObject(value)) picked[member] = pickAllowed(value, below);
  }
  return picked;
}
