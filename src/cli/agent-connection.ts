import { connect, type A2AClient } from "../client/index.ts";
import { toCardError, createConnectOptions, type LoadedAgentCard } from "./agent-card-loader.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";

/** The agent that a command talks to, with all that its options say about how. */
export interface AgentConnection {
  /** As the user wrote it, for the commands that are printed. */
  readonly agentRef: string;
  readonly client: A2AClient;
  /** Aborts when the user has had enough, or `--timeout` is over. */
  readonly signal: AbortSignal;
}

/** Finds the agent's card and chooses how to talk to it. */
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
      // Older than 1.0 is never spoken unasked (a2a-cli SPEC §13.2).
      version: options.a2aVersion ?? "1.0",
      ...(options.transport ? { preferredBindings: options.transport } : {}),
    });
    const { protocolBinding, protocolVersion, url: at } = remote.agentInterface;
    if (options.debug)
      context.streams.err(`debug: speaks ${protocolBinding} ${protocolVersion} with ${at}\n`);
    return { agentRef: ref, client: remote, signal };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
}

/** The card for those who have authenticated, with what the public one says of how. */
export async function loadExtendedCard(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<LoadedAgentCard> {
  const { client: remote, signal } = await connectToAgent(ref, options, context);
  const card = await remote.getExtendedCard({ signal });
  return { card, servedJson: card };
}
