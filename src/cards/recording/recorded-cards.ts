import { A2AError } from "../../protocol/index.ts";
import { type MessageCard, parseCard, parseCardTime } from "../message-card/index.ts";
import { type Recording, RecordingBuilder } from "./recording.ts";

/**
 * Creates a recording from a list of message cards, such as a file of the card specification. The times in
 * the recording are the timestamps of the message cards. The recording contains no run line, no model calls,
 * and no scores.
 */
export function createRecordingFromCards(cards: readonly MessageCard[]): Recording {
  const recording = new RecordingBuilder();
  // The order of a list is more reliable than timestamps.
  let sentMs = Number.NEGATIVE_INFINITY;
  for (const card of cards) {
    sentMs = Math.max(sentMs, parseCardTime(card));
    recording.addCard(card, sentMs);
  }
  return recording;
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
