import { connect, type Remote } from "../client/index.ts";
import { asCardProblem, clientOf, type TargetCard } from "./card-target.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";

/** The agent that a command talks to, with all that its options say about how. */
export interface Target {
  /** As the user wrote it, for the commands that are printed. */
  readonly ref: string;
  readonly remote: Remote;
  /** Aborts when the user has had enough, or `--timeout` is over. */
  readonly signal: AbortSignal;
}

/** Finds the agent's card and chooses how to talk to it. */
export async function openTarget(ref: string, options: ClientOptions, context: Context): Promise<Target> {
  const { url, signal, ...how } = clientOf(ref, options, context);
  try {
    const remote = await connect(url, {
      ...how,
      signal,
      // Older than 1.0 is never spoken unasked (a2a-cli SPEC §13.2).
      version: options.a2aVersion ?? "1.0",
      ...(options.transport ? { prefer: options.transport } : {}),
    });
    const { protocolBinding, protocolVersion, url: at } = remote.via;
    if (options.debug)
      context.streams.err(`debug: speaks ${protocolBinding} ${protocolVersion} with ${at}\n`);
    return { ref, remote, signal };
  } catch (error) {
    throw asCardProblem(error, ref, url);
  }
}

/** The card for those who have authenticated, with what the public one says of how. */
export async function openExtendedCard(
  ref: string,
  options: ClientOptions,
  context: Context,
): Promise<TargetCard> {
  const { remote, signal } = await openTarget(ref, options, context);
  const card = await remote.extendedCard({ signal });
  return { card, served: card };
}
