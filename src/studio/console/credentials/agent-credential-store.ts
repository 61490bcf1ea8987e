import type { AgentCredentials, ClientAuthOptions } from "../../../client/index.ts";
import { A2AError, type FieldViolation } from "../../../protocol/index.ts";
import type { ConsoleCredentials, ConsoleSignInScheme } from "../../console-api/index.ts";
import { HEADERS_SCHEME, isStandardScheme } from "./sign-in-schemes.ts";

/** The largest credential in characters, which exceeds every common token. */
const MAX_VALUE_LENGTH = 16_384;
/** Number of names above which the names of deleted headers are forgotten. */
const MAX_HEADER_NAMES = 1_000;
const REDACTED_VALUE = "***";

/**
 * The credentials that the user of the console has entered, by agent and scheme. The store keeps the credentials only in
 * memory, and no function of the console returns them to a page.
 */
export class AgentCredentialStore {
  readonly #byAgentId = new Map<string, Map<string, AgentCredentials>>();
  readonly #headersByAgentId = new Map<string, Headers>();
  /** Names of all headers that the user has entered, also of deleted ones, which a running call can still send. */
  readonly #headerNames = new Set<string>();

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
    if (scheme.kind === "headers") {
      const text = decodeFieldValues(scheme.fields, values).get("headers") ?? "";
      const headers = parseHeaders(text);
      this.#headersByAgentId.set(agentId, headers);
      if (this.#headerNames.size > MAX_HEADER_NAMES) this.#headerNames.clear();
      for (const names of this.#headersByAgentId.values())
        for (const header of names.keys()) this.#headerNames.add(header);
      return;
    }
    const credentials = toAgentCredentials(scheme, values);
    const byScheme = this.#byAgentId.get(agentId) ?? new Map<string, AgentCredentials>();
    this.#byAgentId.set(agentId, byScheme.set(name, credentials));
  }

  /** Deletes all credentials of an agent. */
  deleteCredentials(agentId: string): void {
    this.#byAgentId.delete(agentId);
    this.#headersByAgentId.delete(agentId);
  }

  /** Returns the names of the schemes for which the store has credentials. */
  listSchemeNames(agentId: string): string[] {
    const names = [...(this.#byAgentId.get(agentId)?.keys() ?? [])];
    return this.#headersByAgentId.has(agentId) ? [...names, HEADERS_SCHEME.scheme] : names;
  }

  /** Returns the option `headers` of `connect`, or `undefined` if the user has entered no headers. */
  getHeaders(agentId: string): Readonly<Record<string, string>> | undefined {
    const headers = this.#headersByAgentId.get(agentId);
    return headers && Object.fromEntries(headers);
  }

  /** Returns a copy of the headers of a request in which no value is one that the user has entered. */
  hideEnteredHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        this.#headerNames.has(name.toLowerCase()) ? REDACTED_VALUE : value,
      ]),
    );
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

/** Headers that a request needs as it is. */
const FIXED_HEADERS =
  "accept connection content-length content-type expect host keep-alive te trailer transfer-encoding upgrade".split(
    " ",
  );

/** Parses one header per line. Throws `INVALID_PARAMS` for a line that is no header. The error never contains a value. */
function parseHeaders(text: string): Headers {
  const headers = new Headers();
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, name = "", value = ""] = /^([^:]*):(.*)$/.exec(line.trim()) ?? [];
    const refuse = (description: string): A2AError =>
      A2AError.invalidParams([{ field: "values.headers", description: `line ${at + 1} ${description}` }]);
    if (FIXED_HEADERS.includes(name.trim().toLowerCase())) throw refuse("is a header that the console sets");
    try {
      headers.append(name.trim(), value.trim());
    } catch {
      throw refuse("is no header such as X-Tenant: acme");
    }
  }
  if ([...headers].length > 0) return headers;
  throw A2AError.invalidParams([{ field: "values.headers", description: "must not be empty" }]);
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
