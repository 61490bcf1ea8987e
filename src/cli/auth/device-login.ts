import { setTimeout as pause } from "node:timers/promises";
import {
  assertSecureUrl,
  type IssuedToken,
  type OAuthClientIdentity,
  type OAuthEndpoint,
  type OAuthRefusal,
  postOAuthForm,
  requestToken,
  toRefusal,
} from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { CliError } from "../cli-error.ts";

/** The code that the user enters, and the page for the code (RFC 8628 §3.2). */
export interface DeviceCodePrompt {
  readonly userCode: string;
  readonly url: string;
  /** URL of the page that contains the code already. */
  readonly urlWithCode: string | undefined;
}

/** The time of a login, which tests control. */
export interface LoginClock {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_LOGIN_CLOCK: LoginClock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    await pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  },
};

export interface DeviceLoginOptions {
  readonly fetch: typeof fetch;
  readonly deviceUrl: string;
  readonly tokenEndpoint: OAuthEndpoint;
  readonly client: OAuthClientIdentity;
  readonly scopes: readonly string[];
  readonly clock: LoginClock;
  readonly signal: AbortSignal;
  readonly onPrompt: (prompt: DeviceCodePrompt) => void;
}

interface DeviceAuthorization extends DeviceCodePrompt {
  readonly deviceCode: string;
  readonly lifetimeMs: number;
  readonly intervalMs: number;
}

const DEFAULT_INTERVAL_S = 5;
/** Added to the interval for each `slow_down` (RFC 8628 §3.5). */
const SLOW_DOWN_MS = 5_000;
/** The server chooses the interval, and an interval of zero must not become a busy loop. */
const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 60_000;
const MAX_LIFETIME_S = 3_600;
const MAX_CODE_LENGTH = 64;

/**
 * Gets a token with a code that the user enters in a browser of any device (RFC 8628). The function polls the token
 * endpoint until the user has decided or the code has expired.
 */
export async function loginWithDeviceCode(options: DeviceLoginOptions): Promise<IssuedToken> {
  const { client, clock, signal, onPrompt } = options;
  const authorization = await requestDeviceCode(options);
  const deadline = clock.now() + authorization.lifetimeMs;
  onPrompt(authorization);
  let { intervalMs } = authorization;
  for (;;) {
    await clock.sleep(Math.min(intervalMs, deadline - clock.now()), signal);
    signal.throwIfAborted();
    if (clock.now() >= deadline) throw createLoginError("The code has expired.");
    const answer = await pollToken(options, authorization.deviceCode);
    if (answer !== undefined && "accessToken" in answer) return answer;
    intervalMs = Math.max(intervalMs, MIN_INTERVAL_MS);
    // A server that does not answer must not get more requests (RFC 8628 §3.5).
    if (answer === undefined || isBusy(answer)) intervalMs = Math.min(intervalMs * 2, MAX_INTERVAL_MS);
    else if (answer.code === "slow_down") intervalMs += SLOW_DOWN_MS;
    else if (answer.code === "expired_token") throw createLoginError("The code has expired.");
    else if (answer.code === "access_denied") throw createLoginError("The login was denied.");
    else if (answer.code !== "authorization_pending")
      throw createLoginError(describeRefusal(answer, [client.secret, authorization.deviceCode]));
  }
}

async function requestDeviceCode({
  fetch,
  deviceUrl,
  tokenEndpoint: { secretLocation },
  client,
  scopes,
}: DeviceLoginOptions): Promise<DeviceAuthorization> {
  const endpoint = { url: deviceUrl, secretLocation };
  const scope: Record<string, string> = scopes.length > 0 ? { scope: scopes.join(" ") } : {};
  const { status, json } = await postOAuthForm(fetch, endpoint, client, scope);
  if (status !== 200)
    throw createLoginError(
      `${deviceUrl} issued no code: ${describeRefusal(toRefusal(status, json), [client.secret])}`,
    );
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = json;
  const lifetimeS = Number(expires_in);
  if (
    typeof device_code !== "string" ||
    typeof user_code !== "string" ||
    user_code.length > MAX_CODE_LENGTH ||
    typeof verification_uri !== "string" ||
    !(lifetimeS > 0)
  )
    throw createLoginError(`${deviceUrl} issued an invalid code.`);
  assertSecureUrl(verification_uri);
  const intervalS = interval === undefined ? DEFAULT_INTERVAL_S : Number(interval);
  return {
    deviceCode: device_code,
    userCode: user_code,
    url: verification_uri,
    urlWithCode: findSecureUrl(verification_uri_complete),
    lifetimeMs: Math.min(lifetimeS, MAX_LIFETIME_S) * 1_000,
    intervalMs: (intervalS >= 0 ? intervalS : DEFAULT_INTERVAL_S) * 1_000,
  };
}

function findSecureUrl(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    assertSecureUrl(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Resolves with the answer of the token endpoint, or with `undefined` if the server does not answer. */
async function pollToken(
  { fetch, tokenEndpoint, client }: DeviceLoginOptions,
  deviceCode: string,
): Promise<IssuedToken | OAuthRefusal | undefined> {
  try {
    return await requestToken(fetch, tokenEndpoint, client, {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: deviceCode,
    });
  } catch (error) {
    if (error instanceof A2AError && error.reason === "UNAVAILABLE") return undefined;
    if (error instanceof DOMException && error.name === "TimeoutError") return undefined;
    throw error;
  }
}

function isBusy({ status }: OAuthRefusal): boolean {
  return status >= 500 || status === 429;
}

/** Describes a refusal without the secrets of the request, which the text of a server may repeat. */
export function describeRefusal({ text }: OAuthRefusal, secrets: readonly (string | undefined)[]): string {
  let shown = text;
  for (const secret of secrets) if (secret) shown = shown.replaceAll(secret, "***");
  return shown.slice(0, 300);
}

export function createLoginError(message: string): CliError {
  return new CliError("A2ACLI_ERR_AUTH_FAILED", message, "Run colloquy auth login again.");
}
