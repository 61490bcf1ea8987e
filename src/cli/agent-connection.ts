import { connect, type A2AClient } from "../client/index.ts";
import { toCardError, createConnectOptions, type AgentCardWithServedJson } from "./agent-card-loader.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { listSecretOptionValues } from "./credential-redactor.ts";
import { openTrafficRecord, type OpenTrafficRecord } from "../trace/recording/index.ts";
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
      // A version before 1.0 is used only on request (a2a-cli SPEC §13.2).
      version: options.a2aVersion ?? "1.0",
      ...(options.transport ? { preferredBindings: options.transport } : {}),
      ...(record ? { record: record.writer } : {}),
    });
    const { protocolBinding, protocolVersion, url: interfaceUrl } = remote.agentInterface;
    if (options.debug)
      context.streams.err(`debug: speaks ${protocolBinding} ${protocolVersion} with ${interfaceUrl}\n`);
    return { agentRef: ref, client: remote, signal, ...(record ? { close: record.close } : {}) };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
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
