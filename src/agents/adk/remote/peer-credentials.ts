import {
  type AuthConfig,
  type AuthCredential,
  AuthHandler,
  Context,
  type InvocationContext,
  OAuth2CredentialExchanger,
} from "@google/adk";
import { LruCache } from "../../../base/data-structures/index.ts";
import type { AdkEvent, AdkFunctionResponse } from "../adk-structural-types.ts";
import { toJsonObject } from "../part-conversion.ts";
import { redactCredentialRequest } from "../redact-credential-request.ts";
import { CREDENTIAL_CALL_NAME } from "../reserved-calls.ts";

/** Prefix that ADK uses for credential requests that do not block a tool call. */
const CREDENTIAL_REQUEST_ID_PREFIX = "_adk_toolset_auth_";

/** Maximum number of users whose credentials stay in memory. */
const MAX_CACHED_CREDENTIALS = 10_000;

/** Headers with a credential, or the session event that asks the user to sign in. */
export type PeerAuthorization = { readonly headers: Record<string, string> } | { readonly request: AdkEvent };

/**
 * Obtains users' credentials for one peer. If a user has no credential, the remote agent requests a
 * credential with `adk_request_credential`. The credential service of the runner stores credentials. Without
 * a credential service, credentials stay in memory. Credentials never become part of the session.
 */
export class PeerCredentials {
  readonly #agentName: string;
  readonly #config: AuthConfig;
  readonly #cache = new LruCache<AuthCredential>(MAX_CACHED_CREDENTIALS);

  constructor(agentName: string, config: AuthConfig) {
    this.#agentName = agentName;
    this.#config = config;
  }

  /** Returns the headers for a user, or the event that asks the user for a credential. */
  async authorize(context: InvocationContext): Promise<PeerAuthorization> {
    const known = (await this.#load(context)) ?? (await this.#exchange(context));
    const headers = known && toHeaders(known, this.#config);
    return headers ? { headers } : { request: this.#buildRequest() };
  }

  /** Returns the headers for a user without asking the user. */
  async findHeaders(context: InvocationContext): Promise<Record<string, string>> {
    const known = await this.#load(context);
    return (known && toHeaders(known, this.#config)) ?? {};
  }

  /** Forgets a credential that the peer has rejected, so that the next run asks the user again. */
  async forget(context: InvocationContext): Promise<void> {
    this.#cache.delete(toUserKey(context));
    const { rawAuthCredential } = this.#config;
    if (rawAuthCredential) await this.#saveInService(rawAuthCredential, context);
  }

  async #load(context: InvocationContext): Promise<AuthCredential | undefined> {
    const { rawAuthCredential } = this.#config;
    if (rawAuthCredential && toHeaders(rawAuthCredential, this.#config)) return rawAuthCredential;
    const toolContext = new Context({ invocationContext: context });
    const known =
      (await context.credentialService?.loadCredential(this.#config, toolContext)) ??
      this.#cache.get(toUserKey(context));
    return known && isUsable(known) ? known : undefined;
  }

  /** Exchanges the user's answer, or the client's own secret, for a token. */
  async #exchange(context: InvocationContext): Promise<AuthCredential | undefined> {
    const authCredential = this.#findAnswer(context.session.events) ?? this.#getClientCredential();
    if (!authCredential) return undefined;
    const { authScheme } = this.#config;
    const { credential } = await new OAuth2CredentialExchanger().exchange({ authCredential, authScheme });
    if (!isUsable(credential)) return undefined;
    this.#cache.set(toUserKey(context), credential);
    await this.#saveInService(credential, context);
    return credential;
  }

  async #saveInService(credential: AuthCredential, context: InvocationContext): Promise<void> {
    const config = { ...this.#config, exchangedAuthCredential: credential };
    await context.credentialService?.saveCredential(config, new Context({ invocationContext: context }));
  }

  /** Returns the credential for an OAuth grant that does not involve the user. */
  #getClientCredential(): AuthCredential | undefined {
    const { authScheme, rawAuthCredential } = this.#config;
    const flows = "flows" in authScheme ? authScheme.flows : undefined;
    return flows && "clientCredentials" in flows ? rawAuthCredential : undefined;
  }

  /**
   * Returns the credential that contains the user's answer, if the last user message answers this agent's
   * request. The answer contributes only the authorization code. The other values come from the request and
   * from the options.
   */
  #findAnswer(events: readonly AdkEvent[]): AuthCredential | undefined {
    const response = events
      .findLast(({ author }) => author === "user")
      ?.content?.parts?.find(
        ({ functionResponse }) => functionResponse?.name === CREDENTIAL_CALL_NAME,
      )?.functionResponse;
    const request = response && findCall(events, this.#agentName, response);
    const { rawAuthCredential } = this.#config;
    if (!request || !rawAuthCredential) return undefined;
    const { authResponseUri, authCode } = readOAuth2(response.response);
    const { state, authUri } = readOAuth2(request);
    if (!authResponseUri && !authCode) return undefined;
    return {
      ...rawAuthCredential,
      oauth2: {
        ...rawAuthCredential.oauth2,
        ...(state && { state }),
        ...(authUri && { authUri }),
        ...(authResponseUri && { authResponseUri }),
        ...(authCode && { authCode }),
      },
    };
  }

  #buildRequest(): AdkEvent {
    const id = `adk-${crypto.randomUUID()}`;
    const authConfig = new AuthHandler(this.#config).generateAuthRequest();
    const functionCallId = `${CREDENTIAL_REQUEST_ID_PREFIX}${this.#agentName}`;
    const args = { functionCallId, authConfig };
    // The session must not contain the client's secret.
    const functionCall = redactCredentialRequest(toJsonObject({ id, name: CREDENTIAL_CALL_NAME, args }));
    return { content: { role: "user", parts: [{ functionCall }] }, longRunningToolIds: [id] };
  }
}

function findCall(
  events: readonly AdkEvent[],
  author: string,
  { id }: AdkFunctionResponse,
): Record<string, unknown> | undefined {
  const calls = events.flatMap((event) => (event.author === author ? (event.content?.parts ?? []) : []));
  const call = calls.find(
    ({ functionCall }) => functionCall?.name === CREDENTIAL_CALL_NAME && functionCall.id === id,
  );
  return call?.functionCall?.args?.["authConfig"] as Record<string, unknown> | undefined;
}

/**
 * Reads the OAuth values from a credential request or its answer. The values may have names in snake case.
 */
function readOAuth2(config: Record<string, unknown> = {}): Record<string, string | undefined> {
  const credential = readMember(config, "exchangedAuthCredential", "exchanged_auth_credential");
  const oauth2 = readMember(credential, "oauth2", "oauth2");
  const text = (camel: string, snake: string): string | undefined => {
    const value = readMember(oauth2, camel, snake);
    return typeof value === "string" ? value : undefined;
  };
  return {
    authResponseUri: text("authResponseUri", "auth_response_uri"),
    authCode: text("authCode", "auth_code"),
    authUri: text("authUri", "auth_uri"),
    state: text("state", "state"),
  };
}

function readMember(value: unknown, camel: string, snake: string): unknown {
  const object = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return object[camel] ?? object[snake];
}

/** Returns true if the credential has a token that has not expired. ADK's `expiresAt` is in milliseconds. */
function isUsable({ oauth2 }: AuthCredential): boolean {
  if (!oauth2?.accessToken) return false;
  return oauth2.expiresAt === undefined || oauth2.expiresAt > Date.now();
}

/** Returns the headers for a credential, or `undefined` if the credential is not complete. */
function toHeaders(
  credential: AuthCredential,
  { authScheme }: AuthConfig,
): Record<string, string> | undefined {
  const { oauth2, http, apiKey } = credential;
  if (oauth2) return isUsable(credential) ? { authorization: `Bearer ${oauth2.accessToken}` } : undefined;
  if (http?.credentials.token)
    return { authorization: `Bearer ${http.credentials.token}`, ...http.additionalHeaders };
  const isHeaderKey = authScheme.type === "apiKey" && "in" in authScheme && authScheme.in === "header";
  return isHeaderKey && apiKey ? { [authScheme.name]: apiKey } : undefined;
}

function toUserKey({ session: { appName, userId } }: InvocationContext): string {
  return `${appName.length}:${appName}${userId}`;
}
