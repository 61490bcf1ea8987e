import { addOptionRows } from "../option-rows.ts";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import {
  type IssuedToken,
  type OAuthClientIdentity,
  type OAuthEndpoint,
  requestToken,
} from "../../client/index.ts";
import type { LoadedAgentCard } from "../agent-card-loader.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { parseOAuthClient } from "../client-auth-options.ts";
import { appendCommaList, type ClientOptions, parsePort } from "../client-options.ts";
import { defineAgentCardCommand } from "../define-agent-command.ts";
import { openInBrowser } from "../open-in-browser.ts";
import type { OutputWriter } from "../output-writer.ts";
import { getLoginFile } from "../settings.ts";
import {
  createLoginError,
  describeRefusal,
  loginWithDeviceCode,
  SYSTEM_LOGIN_CLOCK,
} from "./device-login.ts";
import { createClientParameters, toStoredLogin } from "./login-authorizer.ts";
import { isSameLogin, updateLogins } from "./login-file.ts";
import {
  chooseLoginScheme,
  LOGIN_FLOWS,
  type LoginFlow,
  type LoginPlan,
  type LoginScheme,
  planLogin,
} from "./login-plan.ts";

interface AuthLoginOptions extends ClientOptions {
  scheme?: string;
  flow?: LoginFlow;
  scope?: string[];
  redirectPort: number;
}

const OPTION_ROWS = `
--scheme <name>  security scheme of the agent card (default: the first one with a login)
--flow <flow>  device shows a code for any browser, browser opens a page on this machine, client needs no user (default: the flow in the agent card)
--scope <scope>  scope to request; repeatable (default: the scopes in the agent card)
--redirect-port <port>  port on 127.0.0.1 to which the browser returns`;

export function createAuthLoginCommand(context: CliContext): Command {
  const command = addOptionRows(new Command("login"), OPTION_ROWS, {
    values: { flow: LOGIN_FLOWS, "redirect-port": parsePort, scope: appendCommaList },
    defaults: { "redirect-port": [0, "any free port"] },
  }).addHelpText(
    "after",
    `
--oauth-client is required: the id of a client that is registered at the authorization server, or id:secret.
The token is stored in ~/.config/a2a-cli/colloquy-logins.json, and is sent only to the origin of the agent.
Later commands use and renew the token if they get no other credentials. colloquy auth logout deletes it.`,
  );
  return defineAgentCardCommand<AuthLoginOptions>(command, context, async (call) => {
    const { card, origin, fetch, options, output } = call;
    const client = parseRequiredClient(options);
    const scheme = chooseLoginScheme(card, options.scheme);
    const plan = await planLogin(scheme, {
      fetch,
      flow: options.flow,
      trustedIssuer: options.oauthIssuer,
      agentOrigin: origin,
      hasSecret: client.secret !== undefined,
    });
    const scopes = options.scope ?? chooseScopes(scheme, plan);
    const requestedAt = Date.now();
    const issued = await requestLogin(call, { plan, client, scopes }, context);
    const { flow, tokenEndpoint } = plan;
    const target = { origin, scheme: scheme.name, flow, tokenEndpoint, client, scopes, refreshToken: null };
    const login = toStoredLogin(target, issued, requestedAt);
    const file = getLoginFile(context.env);
    updateLogins(file, (logins) => [...logins.filter((other) => !isSameLogin(other, login)), login]);
    const expires = login.expiresAt === null ? null : new Date(login.expiresAt).toISOString();
    output.writeResult(
      {
        origin,
        scheme: scheme.name,
        expires,
        renewable: login.refreshToken !== null || flow === "client",
        file,
      },
      { "Logged in": origin, Scheme: scheme.name, Expires: expires ?? "unknown", File: file },
    );
  });
}

function parseRequiredClient({ oauthClient }: AuthLoginOptions): OAuthClientIdentity {
  if (oauthClient !== undefined) return parseOAuthClient(oauthClient);
  throw createUsageError(
    "No OAuth client is given.",
    "Pass --oauth-client with the id of a client that is registered at the authorization server.",
  );
}

function chooseScopes({ scheme, scopes }: LoginScheme, { flow }: LoginPlan): readonly string[] {
  // OpenID Connect Core §3.1.2.1: the request of a user's login contains this scope.
  const needsOpenId =
    "openIdConnectSecurityScheme" in scheme && flow !== "client" && !scopes.includes("openid");
  return needsOpenId ? ["openid", ...scopes] : scopes;
}

async function requestLogin(
  {
    origin,
    fetch,
    signal,
    options,
    output,
  }: LoadedAgentCard & { options: AuthLoginOptions; output: OutputWriter },
  { plan, client, scopes }: { plan: LoginPlan; client: OAuthClientIdentity; scopes: readonly string[] },
  { isInteractive, streams }: CliContext,
): Promise<IssuedToken> {
  const { flow, tokenEndpoint, startUrl = "", issuer, sendsIssuer } = plan;
  const request = { fetch, tokenEndpoint, client, scopes, signal };
  const show = (text: string): void => streams.err(`${text}\n`);
  if (flow === "device")
    return await loginWithDeviceCode({
      ...request,
      deviceUrl: startUrl,
      clock: SYSTEM_LOGIN_CLOCK,
      onPrompt({ url, urlWithCode, userCode }) {
        show(`Log in to ${origin}: open ${url} in a browser, and enter the code ${userCode}`);
        if (urlWithCode !== undefined) show(`Or open ${urlWithCode}, and compare the code.`);
      },
    });
  if (flow === "browser")
    return await loginWithBrowser({
      ...request,
      pageUrl: startUrl,
      issuer,
      sendsIssuer,
      port: options.redirectPort,
      onUrl(url) {
        show(`Log in to ${origin}: open this page in a browser of this machine.\n${url}`);
        if (isInteractive) openInBrowser(url, (explanation) => output.writeHint(explanation));
      },
    });
  const answer = await requestToken(fetch, tokenEndpoint, client, createClientParameters(scopes));
  if ("accessToken" in answer) return answer;
  throw createLoginError(`${tokenEndpoint.url} issued no token: ${describeRefusal(answer, [client.secret])}`);
}

interface BrowserLoginOptions {
  readonly fetch: typeof fetch;
  /** URL of the login page (RFC 6749 §3.1). */
  readonly pageUrl: string;
  readonly tokenEndpoint: OAuthEndpoint;
  readonly client: OAuthClientIdentity;
  readonly scopes: readonly string[];
  readonly issuer?: string | undefined;
  /** Whether the server names the issuer in its redirects (RFC 9207). */
  readonly sendsIssuer: boolean;
  /** Port of the local URL to which the browser returns. Port 0 selects any free port. */
  readonly port: number;
  readonly signal: AbortSignal;
  /** Receives the URL that the user opens in a browser. */
  readonly onUrl: (url: string) => void;
}

const CALLBACK_PATH = "/callback";
const HOST = "127.0.0.1";

/**
 * Gets a token with a page that the user opens in a browser of this machine (RFC 6749 §4.1). The browser returns to a
 * local URL (RFC 8252 §7.3), and PKCE binds the returned code to this process (RFC 7636).
 */
async function loginWithBrowser(options: BrowserLoginOptions): Promise<IssuedToken> {
  const { fetch, tokenEndpoint, client, port, signal, onUrl } = options;
  const state = createRandomText();
  const codeVerifier = createRandomText();
  signal.throwIfAborted();
  const server = createServer();
  server.listen(port, HOST);
  await once(server, "listening");
  try {
    const redirectUri = `http://${HOST}:${(server.address() as AddressInfo).port}${CALLBACK_PATH}`;
    const returned = waitForReturn(server, state, signal);
    onUrl(buildPageUrl(options, { state, codeVerifier, redirectUri }));
    const code = findCode(await returned, options);
    const answer = await requestToken(fetch, tokenEndpoint, client, {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    });
    if ("accessToken" in answer) return answer;
    throw createLoginError(
      `${tokenEndpoint.url} issued no token: ${describeRefusal(answer, [client.secret, code, codeVerifier])}`,
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function createRandomText(): string {
  return randomBytes(32).toString("base64url");
}

function buildPageUrl(
  { pageUrl, client, scopes }: BrowserLoginOptions,
  { state, codeVerifier, redirectUri }: { state: string; codeVerifier: string; redirectUri: string },
): string {
  const url = new URL(pageUrl);
  const parameters = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Resolves with the parameters of the redirect with the expected `state`. Other requests are refused and do not end the
 * login, because every web page in the browser can send them.
 */
function waitForReturn(server: Server, state: string, signal: AbortSignal): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const url = URL.parse(request.url ?? "", `http://${HOST}`);
      if (request.method !== "GET" || url?.pathname !== CALLBACK_PATH)
        return sendPage(response, 404, "Not found.");
      if (url.searchParams.getAll("state").join() !== state)
        return sendPage(response, 400, "This is not the login that colloquy started. Close this page.");
      sendPage(response, 200, "Close this page. The terminal shows the result of the login.", () =>
        resolve(url.searchParams),
      );
    });
  });
}

/** Sends a fixed text. The text contains no part of the request, because any web page can cause the request. */
function sendPage(response: ServerResponse, status: number, text: string, onSent?: () => void): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`, onSent);
}

function findCode(parameters: URLSearchParams, { issuer, sendsIssuer }: BrowserLoginOptions): string {
  const [namedIssuer, ...others] = parameters.getAll("iss");
  const isOther = issuer !== undefined && (namedIssuer ?? (sendsIssuer ? "" : issuer)) !== issuer;
  if (isOther || others.length > 0)
    throw createLoginError("The browser returned from a different server than the one that it was sent to.");
  const error = parameters.get("error");
  if (error === "access_denied") throw createLoginError("The login was denied.");
  const description = parameters.get("error_description");
  if (error !== null)
    throw createLoginError(
      [error, description]
        .filter((text) => text !== null)
        .join(": ")
        .slice(0, 300),
    );
  const [code, ...rest] = parameters.getAll("code");
  if (code === undefined || code === "" || rest.length > 0)
    throw createLoginError("The server returned no code.");
  return code;
}
