import { Command, Option } from "commander";
import { type IssuedToken, type OAuthClientIdentity, requestToken } from "../../client/index.ts";
import type { LoadedAgentCard } from "../agent-card-loader.ts";
import type { CliContext } from "../cli-context.ts";
import { parseOAuthClient } from "../client-auth-options.ts";
import { appendCommaList, parsePort, type ClientOptions } from "../client-options.ts";
import { createUsageError } from "../cli-error.ts";
import { defineAgentCardCommand } from "../define-agent-command.ts";
import { openInBrowser } from "../open-in-browser.ts";
import type { OutputWriter } from "../output-writer.ts";
import { getLoginFile } from "../settings.ts";
import { loginWithBrowser } from "./browser-login.ts";
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

export function createAuthLoginCommand(context: CliContext): Command {
  const command = new Command("login")
    .option("--scheme <name>", "security scheme of the agent card (default: the first one with a login)")
    .addOption(
      new Option(
        "--flow <flow>",
        "device shows a code for any browser, browser opens a page on this machine, client needs no user (default: the flow in the agent card)",
      ).choices(LOGIN_FLOWS),
    )
    .addOption(
      new Option(
        "--scope <scope>",
        "scope to request; repeatable (default: the scopes in the agent card)",
      ).argParser(appendCommaList),
    )
    .addOption(
      new Option("--redirect-port <port>", "port on 127.0.0.1 to which the browser returns")
        .argParser(parsePort)
        .default(0, "any free port"),
    )
    .addHelpText(
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
