import type { JsonObject } from "../../protocol/index.ts";
import { type MessageCard, parseCard, toDict } from "../message-card/index.ts";
import { MESSAGE_CARD_EXTENSION_URI } from "./card-parts.ts";
import { isTraceparent } from "./traceparent.ts";

/** What travels beside a card, in the metadata of its message. */
export interface CardEnvelope {
  /** The run that all of it is for. */
  readonly runId?: string | undefined;
  /** `full`: whoever works on the task tells its giver of every card that it sends or receives. */
  readonly relay: "none" | "full";
  /** How many roles the problem has been handed to, this one among them: a chain of more than `MAX_HOPS` is a loop. */
  readonly hops: number;
  /** Where in a distributed trace the task is done (W3C). */
  readonly traceparent?: string | undefined;
}

/** How often a problem may be handed on. */
export const MAX_HOPS = 8;

const RUN_ID_KEY = `${MESSAGE_CARD_EXTENSION_URI}/run_id`;
const RELAY_KEY = `${MESSAGE_CARD_EXTENSION_URI}/relay`;
const HOPS_KEY = `${MESSAGE_CARD_EXTENSION_URI}/hops`;
const TRACEPARENT_KEY = `${MESSAGE_CARD_EXTENSION_URI}/traceparent`;
const CARD_KEY = `${MESSAGE_CARD_EXTENSION_URI}/card`;

export function encodeCardEnvelope({ runId, relay, hops, traceparent }: CardEnvelope): JsonObject {
  return {
    ...(runId === undefined ? {} : { [RUN_ID_KEY]: runId }),
    ...(relay === "none" ? {} : { [RELAY_KEY]: relay }),
    [HOPS_KEY]: hops,
    ...(traceparent === undefined ? {} : { [TRACEPARENT_KEY]: traceparent }),
  };
}

/** What the metadata of a message, or of its request, says; what is missing or no such thing is as if nothing was said. */
export function decodeCardEnvelope(...metadata: readonly (JsonObject | undefined)[]): CardEnvelope {
  const said: JsonObject = Object.assign({}, ...metadata.toReversed());
  const { [RUN_ID_KEY]: runId, [RELAY_KEY]: relay, [HOPS_KEY]: hops, [TRACEPARENT_KEY]: traceparent } = said;
  return {
    ...(typeof runId === "string" ? { runId } : {}),
    relay: relay === "full" ? "full" : "none",
    hops: typeof hops === "number" && Number.isInteger(hops) && hops > 0 ? hops : 1,
    ...(isTraceparent(traceparent) ? { traceparent } : {}),
  };
}

/** A card in the metadata of a CancelTask request, which has no parts. */
export function encodeCardInMetadata(card: MessageCard): JsonObject {
  return { [CARD_KEY]: toDict(card) };
}

/** The card in the metadata of a CancelTask request; none for what is missing, or no card. */
export function findCardInMetadata(metadata: JsonObject | undefined): MessageCard | undefined {
  const json = metadata?.[CARD_KEY];
  if (json === undefined) return undefined;
  try {
    return parseCard(json);
  } catch {
    // Whoever wants a task stopped is not refused for how they say why.
    return undefined;
  }
}
