import { connect, listServerAgents, type A2AClient, type ConnectOptions } from "../client/index.ts";
import { toCardError, createConnectOptions, type AgentCardWithServedJson } from "./agent-card-loader.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { listSecretOptionValues } from "./credential-redactor.ts";
import { openTrafficRecord, type OpenTrafficRecord } from "../observe/trace/recording/index.ts";
import { readPackageVersion } from "./package-version.ts";

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
  const { url, signal, ...how } = createConnectOptions(ref, options, context);
  const record =
    options.record === undefined ? undefined : openClientRecord(options.record, options, context);
  try {
    const remote = await connect(url, {
      ...how,
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
function openClientRecord(file: string, options: ClientOptions, { streams }: CliContext): OpenTrafficRecord {
  return openTrafficRecord(file, {
    vantage: "client",
    name: "colloquy",
    code: readPackageVersion(),
    secrets: listSecretOptionValues(options),
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
  const card = await client.getExtendedCard({ signal });
  return { card, servedJson: card };
}
