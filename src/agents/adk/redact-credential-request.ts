import type { JsonObject, JsonValue, Message, Part } from "../../protocol/index.ts";
import { isJsonObject } from "./adk-event-metadata.ts";
import { CREDENTIAL_CALL_NAME } from "./reserved-calls.ts";

/**
 * Members of a credential request that the bridge may send to a caller. The value `true` allows the entire
 * member.
 */
interface AllowedCredentialMembers {
  readonly [member: string]: true | AllowedCredentialMembers;
}

/**
 * Credential members that a user needs to sign in. The bridge removes all other members of the credential,
 * for example the client secret.
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
 * Returns a copy of a credential request for the caller. The copy contains the sign-in data, but no secrets.
 * ADK later merges the caller's response with the complete request in the session.
 */
export function redactCredentialRequest(call: JsonObject): JsonObject {
  const { args } = call;
  return isJsonObject(args)
    ? { ...call, args: pickAllowedCredentialMembers(args, CREDENTIAL_REQUEST_MEMBERS_FOR_CALLER) }
    : call;
}

/**
 * Returns a copy of a message in which answers to credential requests have no keys, tokens, and codes. An answer can have
 * the type and the name of a function response, or only its `id`.
 */
export function redactCredentialAnswers(message: Message): Message {
  const isAnswered = message.parts.some((part) => "data" in part && findCredentialAnswer(part.data));
  if (!isAnswered) return message;
  const parts = message.parts.map((part): Part => {
    const answer = "data" in part ? findCredentialAnswer(part.data) : undefined;
    return answer ? { ...part, data: answer } : part;
  });
  return { ...message, parts };
}

/** Returns the redacted answer, or `undefined` if the data is no answer to a credential request. */
function findCredentialAnswer(data: JsonValue): JsonObject | undefined {
  if (!isJsonObject(data)) return undefined;
  const { name, response } = data;
  if (!isJsonObject(response)) return undefined;
  const isAnswer = name === CREDENTIAL_CALL_NAME || CREDENTIAL_MEMBERS.some((member) => member in response);
  const allowed = CREDENTIAL_REQUEST_MEMBERS_FOR_CALLER["authConfig"] as AllowedCredentialMembers;
  return isAnswer ? { ...data, response: pickAllowedCredentialMembers(response, allowed) } : undefined;
}

const CREDENTIAL_MEMBERS = [
  "exchangedAuthCredential",
  "exchanged_auth_credential",
  "rawAuthCredential",
  "raw_auth_credential",
];

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
