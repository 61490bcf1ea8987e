import type { JsonObject } from "../../protocol/index.ts";
import { type Card, parseCard, toDict } from "../card/index.ts";
import { CARD_EXTENSION } from "./parts.ts";
import { isTraceparent } from "./trace.ts";

/** What travels beside a card, in the metadata of its message. */
export interface Envelope {
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

const RUN_ID = `${CARD_EXTENSION}/run_id`;
const RELAY = `${CARD_EXTENSION}/relay`;
const HOPS = `${CARD_EXTENSION}/hops`;
const TRACEPARENT = `${CARD_EXTENSION}/traceparent`;
const CARD = `${CARD_EXTENSION}/card`;

export function toEnvelopeMetadata({ runId, relay, hops, traceparent }: Envelope): JsonObject {
  return {
    ...(runId === undefined ? {} : { [RUN_ID]: runId }),
    ...(relay === "none" ? {} : { [RELAY]: relay }),
    [HOPS]: hops,
    ...(traceparent === undefined ? {} : { [TRACEPARENT]: traceparent }),
  };
}

/** What the metadata of a message, or of its request, says; what is missing or no such thing is as if nothing was said. */
export function envelopeOf(...metadata: readonly (JsonObject | undefined)[]): Envelope {
  const said: JsonObject = Object.assign({}, ...metadata.toReversed());
  const { [RUN_ID]: runId, [RELAY]: relay, [HOPS]: hops, [TRACEPARENT]: traceparent } = said;
  return {
    ...(typeof runId === "string" ? { runId } : {}),
    relay: relay === "full" ? "full" : "none",
    hops: typeof hops === "number" && Number.isInteger(hops) && hops > 0 ? hops : 1,
    ...(isTraceparent(traceparent) ? { traceparent } : {}),
  };
}

/** A card in the metadata of a CancelTask request, which has no parts. */
export function toCardMetadata(card: Card): JsonObject {
  return { [CARD]: toDict(card) };
}

/** The card in the metadata of a CancelTask request; none for what is missing, or no card. */
export function cardInMetadata(metadata: JsonObject | undefined): Card | undefined {
  const json = metadata?.[CARD];
  if (json === undefined) return undefined;
  try {
    return parseCard(json);
  } catch {
    // Whoever wants a task stopped is not refused for how they say why.
    return undefined;
  }
}
