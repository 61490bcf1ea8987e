import type { AgentCredentials, ClientAuthOptions } from "../../../client/index.ts";
import { A2AError, type FieldViolation } from "../../../protocol/index.ts";
import type { ConsoleCredentials, ConsoleSignInScheme } from "../../console-api/index.ts";
import { isStandardScheme } from "./sign-in-schemes.ts";

/** The largest credential in characters, which exceeds every common token. */
const MAX_VALUE_LENGTH = 16_384;

/**
 * The credentials that the user of the console has entered, by agent and scheme. The store keeps the credentials only in
 * memory, and no function of the console returns them to a page.
 */
export class AgentCredentialStore {
  readonly #byAgentId = new Map<string, Map<string, AgentCredentials>>();

  /**
   * Stores the credentials of one scheme. Throws `INVALID_PARAMS` if the agent does not offer the scheme, or if a field
   * is missing or unknown.
   */
  setCredentials(
    agentId: string,
    offered: readonly ConsoleSignInScheme[],
    { scheme: name, values }: ConsoleCredentials,
  ): void {
    const scheme = offered.find((one) => one.scheme === name);
    if (!scheme) throw createSchemeError(offered);
    const credentials = toAgentCredentials(scheme, values);
    const byScheme = this.#byAgentId.get(agentId) ?? new Map<string, AgentCredentials>();
    this.#byAgentId.set(agentId, byScheme.set(name, credentials));
  }

  /** Deletes all credentials of an agent. */
  deleteCredentials(agentId: string): void {
    this.#byAgentId.delete(agentId);
  }

  /** Returns the names of the schemes for which the store has credentials. */
  listSchemeNames(agentId: string): string[] {
    return [...(this.#byAgentId.get(agentId)?.keys() ?? [])];
  }

  /** Returns the option `auth` of `connect`, or `undefined` if the store has no credentials of the agent. */
  createClientAuth(agentId: string): ClientAuthOptions | undefined {
    const entries = [...(this.#byAgentId.get(agentId) ?? [])];
    if (entries.length === 0) return undefined;
    const standard = entries.flatMap(([name, credentials]) => (isStandardScheme(name) ? [credentials] : []));
    const declared = entries.filter(([name]) => !isStandardScheme(name));
    return Object.assign(
      { schemeCredentials: Object.fromEntries(declared) },
      ...standard,
    ) as ClientAuthOptions;
  }
}

function toAgentCredentials(
  { kind, fields }: ConsoleSignInScheme,
  entered: Readonly<Record<string, unknown>>,
): AgentCredentials {
  const values = decodeFieldValues(fields, entered);
  const read = (name: string): string => (values.get(name) ?? "").trim();
  const readRequired = (name: string): string => {
    const value = read(name);
    if (value !== "") return value;
    throw A2AError.invalidParams([{ field: `values.${name}`, description: "must not be empty" }]);
  };
  if (kind === "api-key") return { apiKey: readRequired("apiKey") };
  if (kind === "bearer") return { bearer: readRequired("token") };
  if (kind === "basic")
    return { basic: { username: readRequired("username"), password: values.get("password") ?? "" } };
  if (kind !== "oauth-client-credentials")
    throw A2AError.invalidParams([
      {
        field: "scheme",
        description: "is not supported by the console; use colloquy send with its own options",
      },
    ]);
  if (read("token") !== "") return { bearer: read("token") };
  const issuer = read("issuer");
  const oauthClient = { id: readRequired("clientId"), secret: readRequired("clientSecret") };
  return { oauthClient: issuer === "" ? oauthClient : { ...oauthClient, issuer } };
}

/** Returns the values by field. Throws if a value has no field or is not a text. The error never contains a value. */
function decodeFieldValues(
  fields: ConsoleSignInScheme["fields"],
  entered: Readonly<Record<string, unknown>>,
): Map<string, string> {
  const names = new Set(fields.map(({ name }) => name));
  const values = new Map<string, string>();
  const violations: FieldViolation[] = [];
  for (const [name, value] of Object.entries(entered)) {
    const field = `values.${name}`;
    if (!names.has(name)) violations.push({ field, description: "is not a field of this scheme" });
    else if (typeof value !== "string") violations.push({ field, description: "must be a text" });
    else if (value.length > MAX_VALUE_LENGTH)
      violations.push({ field, description: `is longer than ${MAX_VALUE_LENGTH} characters` });
    else values.set(name, value);
  }
  if (violations.length > 0) throw A2AError.invalidParams(violations);
  return values;
}

function createSchemeError(offered: readonly ConsoleSignInScheme[]): A2AError {
  const names = offered.map(({ scheme }) => JSON.stringify(scheme)).join(", ");
  return A2AError.invalidParams([{ field: "scheme", description: `must be one of ${names}` }]);
}
