import type { JsonObject } from "../protocol/index.ts";
import { isObject } from "./metadata.ts";

/** The call with which ADK asks its user for a credential. */
export const REQUEST_CREDENTIAL = "adk_request_credential";

/** The members that may leave the house; `true`: whole. */
interface Allowed {
  readonly [member: string]: true | Allowed;
}

/** What a user needs in order to sign in; of the rest, such as the client's secret, an agent's caller must not know. */
const ALLOWED: Allowed = {
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
export function withoutSecrets(call: JsonObject): JsonObject {
  const { args } = call;
  return isObject(args) ? { ...call, args: pick(args, ALLOWED) } : call;
}

function pick(object: JsonObject, allowed: Allowed): JsonObject {
  const picked: JsonObject = {};
  for (const [member, value] of Object.entries(object)) {
    // ADK writes members in both ways.
    const name = member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const below = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
    if (below === true) picked[member] = value;
    else if (below && isObject(value)) picked[member] = pick(value, below);
  }
  return picked;
}
