import { setTimeout as pause } from "node:timers/promises";
import {
  type AuthorizeFunction,
  createRefusalError,
  type IssuedToken,
  requestToken,
} from "../../client/index.ts";
import { CliError } from "../cli-error.ts";
import { describeRefusal } from "./device-login.ts";
import { isSameLogin, readLogins, type StoredLogin, updateLogins } from "./login-file.ts";

interface LoginAuthorizerOptions {
  readonly file: string;
  /** The origins of the agent, of which the first one with a login receives its tokens. */
  readonly origins: readonly string[];
  readonly fetch: typeof fetch;
  readonly now: () => number;
  /** Whether the connection has a client certificate, which satisfies schemes for mutual TLS. */
  readonly hasClientCertificate: boolean;
}

/** The `auth` option of a client with stored logins. */
export interface LoginAuthorizer {
  /** The origin that receives the tokens. */
  readonly origin: string;
  readonly authorize: AuthorizeFunction;
  /** The secrets of the logins, for the redaction of logs and records. */
  listSecrets(): string[];
}

/**
 * Creates the authorizer for the logins at an origin, or returns `undefined` without a login. It renews expired and
 * rejected tokens, and stores the new tokens.
 */
export async function createLoginAuthorizer(
  options: LoginAuthorizerOptions,
): Promise<LoginAuthorizer | undefined> {
  const logins = readLogins(options.file);
  const origin = options.origins.find((candidate) => logins.some((login) => login.origin === candidate));
  if (origin === undefined) return undefined;
  const tokens = new Map(
    logins
      .filter((login) => login.origin === origin)
      .map((login) => [login.scheme, new LoginToken(login, options)]),
  );
  // Renews expired tokens now, so that logs and records know the tokens. The request that needs a token reports a failure.
  await Promise.allSettled([...tokens.values()].map((token) => token.get(false)));
  return {
    origin,
    listSecrets: () => [...tokens.values()].flatMap((token) => token.listSecrets()),
    async authorize({ schemes, isRetry }) {
      const headers: Record<string, string> = {};
      const entries = Object.entries(schemes);
      for (const [name, { scheme }] of entries) {
        if (options.hasClientCertificate && scheme && "mtlsSecurityScheme" in scheme) continue;
        const token = tokens.get(name);
        if (!token || "authorization" in headers) return undefined;
        headers["authorization"] = `Bearer ${await token.get(isRetry)}`;
      }
      // Without a scheme, nothing has declared that it accepts the token.
      return entries.length > 0 ? headers : undefined;
    },
  };
}

/** Time in which another command stores a token that it has received. */
const RENEWAL_OF_OTHERS_MS = 300;

/** The token of one login. Concurrent requests share its renewal. */
class LoginToken {
  readonly #options: LoginAuthorizerOptions;
  #login: StoredLogin;
  #renewal: Promise<StoredLogin> | undefined;

  constructor(login: StoredLogin, options: LoginAuthorizerOptions) {
    this.#login = login;
    this.#options = options;
  }

  listSecrets(): string[] {
    const { accessToken, refreshToken, client } = this.#login;
    return [accessToken, refreshToken ?? "", client.secret ?? ""].filter((secret) => secret !== "");
  }

  /** Resolves with a valid access token. `isRejected` is true if the agent has rejected the last one. */
  async get(isRejected: boolean): Promise<string> {
    if (!isRejected && this.#options.now() < (this.#login.expiresAt ?? Infinity))
      return this.#login.accessToken;
    this.#renewal ??= this.#renew();
    try {
      this.#login = await this.#renewal;
      return this.#login.accessToken;
    } finally {
      this.#renewal = undefined;
    }
  }

  async #renew(): Promise<StoredLogin> {
    const renewed = this.#findRenewedLogin();
    if (renewed) return renewed;
    const { file, fetch, now } = this.#options;
    const login = this.#login;
    const { tokenEndpoint, client } = login;
    const parameters = createRenewalParameters(login);
    if (!parameters) throw createExpiredError(login);
    const requestedAt = now();
    const answer = await requestToken(fetch, tokenEndpoint, client, parameters);
    if (!("accessToken" in answer)) {
      if (answer.code === "invalid_grant") {
        // Another command may have used the refresh token, and stores its new token now.
        await pause(RENEWAL_OF_OTHERS_MS);
        const other = this.#findRenewedLogin();
        if (other) return other;
        throw createExpiredError(login);
      }
      throw createRefusalError(
        answer,
        `${tokenEndpoint.url} did not renew the login: ${describeRefusal(answer, this.listSecrets())}`,
      );
    }
    const next = toStoredLogin(login, answer, requestedAt);
    // A login that was deleted in the meantime stays deleted.
    updateLogins(file, (logins) => logins.map((other) => (isSameLogin(other, login) ? next : other)));
    return next;
  }

  /** Returns the login that another command has stored, unless it contains the same token. */
  #findRenewedLogin(): StoredLogin | undefined {
    const stored = readLogins(this.#options.file).find((login) => isSameLogin(login, this.#login));
    if (!stored) throw createExpiredError(this.#login);
    return stored.accessToken === this.#login.accessToken ? undefined : stored;
  }
}

function createRenewalParameters({
  refreshToken,
  flow,
  scopes,
}: StoredLogin): Record<string, string> | undefined {
  if (refreshToken !== null) return { grant_type: "refresh_token", refresh_token: refreshToken };
  return flow === "client" ? createClientParameters(scopes) : undefined;
}

/** Returns the parameters of a token request with the secret of the client (RFC 6749 §4.4). */
export function createClientParameters(scopes: readonly string[]): Record<string, string> {
  return { grant_type: "client_credentials", ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}) };
}

/** Returns a login with an issued token. A server that keeps the refresh token sends none. */
export function toStoredLogin(
  login: Omit<StoredLogin, "accessToken" | "expiresAt">,
  { accessToken, lifetimeMs, refreshToken }: IssuedToken,
  requestedAt: number,
): StoredLogin {
  return {
    ...login,
    accessToken,
    expiresAt: lifetimeMs === undefined ? null : requestedAt + lifetimeMs,
    refreshToken: refreshToken ?? login.refreshToken,
  };
}

function createExpiredError({ origin, scheme }: StoredLogin): CliError {
  const message = `The login for ${JSON.stringify(scheme)} at ${origin} has ended.`;
  return new CliError("A2ACLI_ERR_AUTH_FAILED", message, "Run colloquy auth login again.");
}
