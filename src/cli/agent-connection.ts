import { connect, type A2AClient } from "../client/index.ts";
import { toCardError, createConnectOptions, type AgentCardWithServedJson } from "./agent-card-loader.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";

/** Connection to the agent that a command calls. */
export interface AgentConnection {
  /** Agent reference as the user typed it, for use in printed commands. */
  readonly agentRef: string;
  readonly client: A2AClient;
  /** Signal that aborts on Ctrl-C or when `--timeout` expires. */
  readonly signal: AbortSignal;
}

/** Loads the agent card and connects to the agent. */
export async function connectToAgent(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<AgentConnection> {
  const { url, signal, ...how } = createConnectOptions(ref, options, context);
  try {
    const remote = await connect(url, {
      ...how,
      signal,
      // A version before 1.0 is used only on request (a2a-cli SPEC §13.2).
      version: options.a2aVersion ?? "1.0",
      ...(options.transport ? { preferredBindings: options.transport } : {}),
    });
    const { protocolBinding, protocolVersion, url: interfaceUrl } = remote.agentInterface;
    if (options.debug)
      context.streams.err(`debug: speaks ${protocolBinding} ${protocolVersion} with ${interfaceUrl}\n`);
    return { agentRef: ref, client: remote, signal };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
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
