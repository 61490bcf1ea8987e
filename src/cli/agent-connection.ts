import { existsSync } from "node:fs";
import {
  connect,
  findCard,
  getInterfaceOrigin,
  listAuthRequirements,
  listServerAgents,
  parseAgentUrl,
  type A2AClient,
  type ConnectOptions,
} from "../client/index.ts";
import {
  CARD_TEXT_PLACEHOLDER_URL,
  toCardError,
  createConnectOptions,
  type AgentCardWithServedJson,
} from "./agent-card-loader.ts";
import type { LoginAuthorizer } from "./auth/login-authorizer.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { CREDENTIAL_OPTIONS, listSecretOptionValues } from "./credential-redactor.ts";
import { openTrafficRecord, type OpenTrafficRecord } from "../observe/trace/recording/index.ts";
import { readPackageVersion } from "./package-version.ts";
import { getLoginFile } from "./settings.ts";

/** Connection to the agent that a command calls. */
export interface AgentConnection {
  /** Agent reference as the user typed it, for use in printed commands. */
  readonly agentRef: string;
  readonly client: A2AClient;
  /** Signal that aborts on Ctrl-C or when `--timeout` expires. */
  readonly signal: AbortSignal;
  /** Stores the remaining lines of the traffic record. Absent without `--record`. */
  readonly close?: () => Promise<void>;
}

/** Loads the agent card and connects to the agent. */
export async function connectToAgent(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<AgentConnection> {
  let login: LoginAuthorizer | undefined;
  const listLoginSecrets = (): readonly string[] => login?.listSecrets() ?? [];
  const { url, signal, ...how } = await createConnectOptions(ref, options, context, listLoginSecrets);
  login = await findLogin(url, how, options, context);
  const record =
    options.record === undefined
      ? undefined
      : openClientRecord(options.record, options, listLoginSecrets(), context);
  try {
    const remote = await connect(url, {
      ...how,
      ...(login
        ? { auth: login.authorize, trustedOrigins: [login.origin, ...(options.trustOrigin ?? [])] }
        : {}),
      signal,
      ...(options.transport ? { preferredBindings: options.transport } : {}),
      ...(record ? { record: record.writer } : {}),
    });
    const { protocolBinding, protocolVersion, url: interfaceUrl } = remote.agentInterface;
    if (options.debug)
      context.streams.err(`debug: speaks ${protocolBinding} ${protocolVersion} with ${interfaceUrl}\n`);
    const note = await describeChoiceOfAgent(ref, remote, { ...how, signal });
    if (note !== undefined) context.streams.err(`note: ${note}\n`);
    return { agentRef: ref, client: remote, signal, ...(record ? { close: record.close } : {}) };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
}

/**
 * Finds the login at the origin of an agent. A command with other credentials uses no login. Most users have none, so the
 * code for logins is loaded only if their file exists.
 */
async function findLogin(
  url: string,
  how: ConnectOptions & { readonly fetch: typeof fetch },
  { apiKey, basic, bearer, clientCert }: ClientOptions,
  { env }: CliContext,
): Promise<LoginAuthorizer | undefined> {
  const file = getLoginFile(env);
  const { oauthClient } = typeof how.auth === "object" ? how.auth : {};
  if ([apiKey, basic, bearer, oauthClient].some((one) => one !== undefined) || !existsSync(file))
    return undefined;
  const origins =
    url === CARD_TEXT_PLACEHOLDER_URL
      ? (await findCard(url, how)).card.supportedInterfaces.map(getInterfaceOrigin)
      : [parseAgentUrl(url).origin];
  const { createLoginAuthorizer } = await import("./auth/login-authorizer.ts");
  const hasClientCertificate = clientCert !== undefined;
  return await createLoginAuthorizer({
    file,
    origins,
    fetch: how.fetch,
    now: Date.now,
    hasClientCertificate,
  });
}

/** Describes the agent of the command if the reference names a server with several agents. */
async function describeChoiceOfAgent(
  ref: string,
  { cardUrl, agentInterface: { url } }: A2AClient,
  options: ConnectOptions,
): Promise<string | undefined> {
  const [base = "", id] = url.split("/a2a/");
  // Another origin must not receive the headers of the command.
  if (id === undefined || cardUrl !== `${base}/.well-known/agent-card.json`) return undefined;
  const others = (await listServerAgents(url, options)).filter((agentUrl) => agentUrl !== url);
  if (others.length === 0) return undefined;
  return `${ref} has ${others.length + 1} agents. This command uses ${url}. Other agents: ${others.slice(0, 10).join(", ")}`;
}

/** Opens the file of `--record`. A record that cannot be written does not stop the command. */
function openClientRecord(
  file: string,
  options: ClientOptions,
  loginSecrets: readonly string[],
  { streams }: CliContext,
): OpenTrafficRecord {
  return openTrafficRecord(file, {
    vantage: "client",
    name: "colloquy",
    code: readPackageVersion(),
    secrets: [...listSecretOptionValues(options), ...loginSecrets],
    onLoss: (cause) =>
      streams.err(
        `warning: ${file} is incomplete: ${cause instanceof Error ? cause.message : String(cause)}\n`,
      ),
  });
}

/**
 * Loads the extended agent card, which requires authentication. The public agent card defines how the client
 * authenticates.
 */
export async function loadExtendedCard(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<AgentCardWithServedJson> {
  const { client, signal } = await connectToAgent(ref, options, context);
  if (listAuthRequirements(client.card).length === 0 && hasCredentials(options)) {
    // The extended card requires a scheme that the public card declares (a2a-cli SPEC §12.4).
    context.streams.err("warning: the card declares no security scheme, so no credentials are sent\n");
    return loadExtendedCard(ref, withoutCredentials(options), context);
  }
  const card = await client.getExtendedCard({ signal });
  return { card, servedJson: card };
}

function hasCredentials(options: ClientOptions): boolean {
  return CREDENTIAL_OPTIONS.some((name) => options[name] !== undefined);
}

function withoutCredentials({
  apiKey: _apiKey,
  basic: _basic,
  bearer: _bearer,
  clientCert: _clientCert,
  clientKey: _clientKey,
  oauthClient: _oauthClient,
  ...options
}: ClientOptions): ClientOptions {
  return options;
}
