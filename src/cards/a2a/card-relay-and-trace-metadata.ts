import { omitUndefined } from "../../base/usage-checks/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type MessageCard, parseCard, toDict } from "../message-card/index.ts";
import { MESSAGE_CARD_EXTENSION_URI } from "./card-parts.ts";
import { isTraceparent } from "./traceparent.ts";

/** Routing data of a message card, which the A2A message contains as metadata. */
export interface CardRelayAndTraceMetadata {
  /** ID of the experiment run that the message card belongs to. */
  readonly runId?: string | undefined;
  /** Relay mode of the task. With `full`, a role forwards every message card to its requester. */
  readonly relay: "none" | "full";
  /**
   * Number of times the problem was forwarded from one role to another. Roles reject a problem with more than
   * `MAX_PROBLEM_FORWARDS` hops as a loop.
   */
  readonly hops: number;
  /** W3C `traceparent` of the task, if the task is part of a distributed trace. */
  readonly traceparent?: string | undefined;
}

/** Maximum number of times a problem may be forwarded from one role to another. */
export const MAX_PROBLEM_FORWARDS = 8;

const RUN_ID_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/run_id`;
const RELAY_TO_REQUESTER_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/relay`;
const PROBLEM_FORWARDS_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/hops`;
const TRACEPARENT_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/traceparent`;
export const MESSAGE_CARD_METADATA_KEY: string = `${MESSAGE_CARD_EXTENSION_URI}/card`;

/** Encodes the routing data of a message card as A2A message metadata. */
export function encodeCardRelayAndTraceMetadata({
  runId,
  relay,
  hops,
  traceparent,
}: CardRelayAndTraceMetadata): JsonObject {
  return omitUndefined({
    [RUN_ID_METADATA_KEY]: runId,
    [RELAY_TO_REQUESTER_METADATA_KEY]: relay === "none" ? undefined : relay,
    [PROBLEM_FORWARDS_METADATA_KEY]: hops,
    [TRACEPARENT_METADATA_KEY]: traceparent,
  });
}

/**
 * Decodes the routing data of a message card from the metadata of an A2A message and its request. If several
 * arguments contain the same key, the first of these arguments takes precedence. The function ignores
 * malformed values.
 */
export function decodeCardRelayAndTraceMetadata(
  ...metadata: readonly (JsonObject | undefined)[]
): CardRelayAndTraceMetadata {
  const merged: JsonObject = Object.assign({}, ...metadata.toReversed());
  const {
    [RUN_ID_METADATA_KEY]: runId,
    [RELAY_TO_REQUESTER_METADATA_KEY]: relay,
    [PROBLEM_FORWARDS_METADATA_KEY]: hops,
    [TRACEPARENT_METADATA_KEY]: traceparent,
  } = merged;
  return {
    ...(typeof runId === "string" ? { runId } : {}),
    relay: relay === "full" ? "full" : "none",
    hops: typeof hops === "number" && Number.isInteger(hops) && hops > 0 ? hops : 1,
    ...(isTraceparent(traceparent) ? { traceparent } : {}),
  };
}

/**
 * Encodes a message card as the metadata of a `CancelTask` request, because a `CancelTask` request has no
 * parts.
 */
export function encodeCardInCancelMetadata(card: MessageCard): JsonObject {
  return { [MESSAGE_CARD_METADATA_KEY]: toDict(card) };
}

/**
 * Returns the message card in the metadata of a `CancelTask` request, or `undefined` if the metadata contains
 * no valid message card.
 */
export function findCardInCancelMetadata(metadata: JsonObject | undefined): MessageCard | undefined {
  const json = metadata?.[MESSAGE_CARD_METADATA_KEY];
  if (json === undefined) return undefined;
  try {
    return parseCard(json);
  } catch {
    // An invalid card must not prevent the cancellation of the task.
    return undefined;
  }
}
