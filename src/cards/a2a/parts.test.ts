import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textOf } from "../../protocol/index.ts";
import { anyCard, janet } from "../card/cards.fixture.ts";
import { CARD_EXTENSION, cardIn, fromCardParts, toCardParts } from "./index.ts";

describe("a card in the parts of a message", () => {
  it("comes out as it went in, and has its content as text", () => {
    fc.assert(
      fc.property(anyCard, (card) => {
        expect(fromCardParts(toCardParts(card))).toEqual(card);
        expect(textOf(toCardParts(card))).toBe(card.content);
      }),
    );
  });

  it("is found by its metadata where data has no media type, as in 0.3", () => {
    for (const card of janet()) {
      const [{ data, metadata }, text] = toCardParts(card);
      expect(metadata).toEqual({ [`${CARD_EXTENSION}/type`]: card.message_type });
      expect(fromCardParts([text, { data, metadata: metadata! }])).toEqual(card);
    }
  });

  it("is found by the extension of its message where data has no mark at all, as in 0.3 over HTTP+JSON", () => {
    for (const card of janet()) {
      const [{ data }, text] = toCardParts(card);
      expect(fromCardParts([text, { data }])).toBeUndefined();
      expect(cardIn({ parts: [{ data }, text], extensions: [CARD_EXTENSION] })).toEqual(card);
    }
    expect(cardIn({ parts: [{ text: "18" }], extensions: [CARD_EXTENSION] })).toBeUndefined();
  });

  it("is not there when the parts are plain", () => {
    expect(fromCardParts([])).toBeUndefined();
    expect(fromCardParts([{ text: "18" }, { data: { sender: "planner" } }])).toBeUndefined();
  });

  it("is refused when it is wrong, and when there are two", () => {
    const [card] = janet();
    const [part] = toCardParts(card!);
    expect(() => fromCardParts([{ ...part, data: { sender: "planner" } }])).toThrow("recipient: is required");
    expect(() => fromCardParts([part, part])).toThrow("more than one card");
  });
});
