import { A2AError } from "../../protocol/index.ts";
import { type MessageCard, parseCard, parseCardTime } from "../message-card/index.ts";
import { selectMostReliableCardLines } from "./most-reliable-card-line.ts";
import type { CardLine, Recording } from "./record-line-types.ts";

/**
 * Returns the message cards of a recording without duplicates, in the order they were sent. If the sender of
 * a message card has no recording, the function returns the card that the recipient recorded.
 */
export function listDistinctRecordedCards(recording: Pick<Recording, "cards">): MessageCard[] {
  return selectMostReliableCardLines(recording.cards).map(({ card }) => card);
}

/**
 * Creates a recording from a list of message cards, such as a file of the card specification. The times in
 * the recording are the timestamps of the message cards. The recording contains no run line, no model calls,
 * and no scores.
 */
export function createRecordingFromCards(cards: readonly MessageCard[]): Recording {
  const start = cards.reduce((least, card) => Math.min(least, parseCardTime(card)), Number.POSITIVE_INFINITY);
  const lines = cards.map((card, index): CardLine => {
    const { run_id = "cards", sample_id } = card.metadata;
    return {
      v: 1,
      kind: "card",
      run_id,
      ...(sample_id !== undefined && { sample_id }),
      at: new Date(parseCardTime(card)).toISOString(),
      seq: index + 1,
      dir: "out",
      at_role: card.sender,
      mono_ms: parseCardTime(card) - start,
      card,
    };
  });
  return {
    run: undefined,
    // The cards keep their order, because the order of a list is more reliable than timestamps.
    cards: lines,
    calls: [],
    scores: [],
    skips: [],
    ends: [],
    abandoned: { cards: [], calls: [] },
    torn: [],
  };
}

/**
 * Decodes a JSON array of message cards. Throws INVALID_PARAMS with the file name and the position of the
 * first invalid message card.
 */
export function decodeMessageCardArray(text: string, file: string): MessageCard[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new A2AError(
      "INVALID_PARAMS",
      `${file}: invalid JSON (${why}). To do: name a file with an array of cards.`,
      {
        cause,
      },
    );
  }
  if (!Array.isArray(list))
    throw new A2AError(
      "INVALID_PARAMS",
      `${file}: the file does not contain an array. To do: enclose the cards in [ and ].`,
    );
  return list.map((json: unknown, index) => {
    try {
      return parseCard(json);
    } catch (cause) {
      const { message, violations } = A2AError.from(cause);
      throw new A2AError("INVALID_PARAMS", `${file}, card ${index + 1}: ${message}`, { cause, violations });
    }
  });
}
