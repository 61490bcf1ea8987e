import { A2AError } from "../../protocol/index.ts";
import { type MessageCard, parseCard, parseCardTime } from "../message-card/index.ts";
import { selectBestCardLines } from "./best-card-line.ts";
import type { CardLine, Recording } from "./record-lines.ts";

/**
 * The cards of a run, each once, in the order in which they were sent. A card that nobody recorded as sent, because its
 * sender is not one of ours, is there as it arrived.
 */
export function listRecordedCards(recording: Pick<Recording, "cards">): MessageCard[] {
  return selectBestCardLines(recording.cards).map(({ card }) => card);
}

/**
 * Bare cards, as the specification's files have them, as a recording: what they tell themselves, by the time that stands
 * on them. There is no run, no call and no score in it.
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
    // As they stand: whoever wrote the list knew their order better than clocks do.
    cards: lines,
    calls: [],
    scores: [],
    ends: [],
    abandoned: { cards: [], calls: [] },
    clocks: [],
    torn: [],
  };
}

/** A list of cards, `[{"sender": …}, …]`, from the text of its file. Throws INVALID_PARAMS with the file and the place in the list. */
export function decodeCards(text: string, file: string): MessageCard[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new A2AError("INVALID_PARAMS", `${file}: this is no JSON (${why}). To do: name a list of cards.`, {
      cause,
    });
  }
  if (!Array.isArray(list))
    throw new A2AError("INVALID_PARAMS", `${file}: this is no list. To do: put the cards between [ and ].`);
  return list.map((json: unknown, index) => {
    try {
      return parseCard(json);
    } catch (cause) {
      const { message, violations } = A2AError.from(cause);
      throw new A2AError("INVALID_PARAMS", `${file}, card ${index + 1}: ${message}`, { cause, violations });
    }
  });
}
